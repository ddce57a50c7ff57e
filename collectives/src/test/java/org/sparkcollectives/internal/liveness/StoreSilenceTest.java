package org.sparkcollectives.internal.liveness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreTimeoutException;

class StoreSilenceTest {

  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private final RuntimeException noConnection = new StoreConnectionException("no answer");
  private final RuntimeException overdue =
      new StoreTimeoutException("no answer in time", List.of(), Duration.ofSeconds(1));

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE, Long.MIN_VALUE})
  void aStoreThatDidNotAnswerIsSilentForAWhile(long clock) {
    for (RuntimeException silent : List.of(noConnection, overdue)) {
      FakeTime time = new FakeTime(clock);
      StoreSilence silence = new StoreSilence(time);
      assertThat(silence.isSilent(PATIENCE)).isFalse();
      fail(silence, silent);
      assertThat(silence.isSilent(PATIENCE)).isTrue();
      time.pass(StoreSilence.BELIEVED.minusNanos(1));
      assertThat(silence.isSilent(PATIENCE)).isTrue();
      time.pass(Duration.ofNanos(1));
      assertThat(silence.isSilent(PATIENCE)).isFalse();
      fail(silence, silent);
      assertThat(silence.isSilent(PATIENCE)).isTrue();
    }
  }

  @Test
  void anAnswerEndsTheSilence() {
    StoreSilence silence = new StoreSilence(new FakeTime(0));
    fail(silence, noConnection);
    silence.observe(PATIENCE, deadline -> {});
    assertThat(silence.isSilent(PATIENCE)).isFalse();
  }

  @Test
  void anotherFailureSaysNothingOfTheStore() {
    StoreSilence silence = new StoreSilence(new FakeTime(0));
    fail(silence, new IllegalStateException("the group's part of the store has ended"));
    fail(silence, new StoreException("refused"));
    assertThat(silence.isSilent(PATIENCE)).isFalse();
    fail(silence, noConnection);
    fail(silence, new IllegalStateException("the group's part of the store has ended"));
    assertThat(silence.isSilent(PATIENCE)).isTrue();
  }

  @Test
  void whoIsMorePatientThanTheCallThatGotNoAnswerAsksAgain() {
    StoreSilence silence = new StoreSilence(new FakeTime(0));
    fail(silence, noConnection);
    assertThat(silence.isSilent(PATIENCE.minusNanos(1))).isTrue();
    assertThat(silence.isSilent(PATIENCE.plusNanos(1))).isFalse();
  }

  private static void fail(StoreSilence silence, RuntimeException failure) {
    assertThatThrownBy(
            () ->
                silence.observe(
                    PATIENCE,
                    deadline -> {
                      throw failure;
                    }))
        .isSameAs(failure);
  }
}
