package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.sparkcollectives.store.StoreUnderTest.timeoutOf;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.Threads;

/** The contract of barriers. */
interface StoreBarriersContract extends StoreUnderTest {

  @Test
  default void aBarrierOpensWhenAllHaveArrivedAgainAndAgain() throws Exception {
    int size = 4;
    int rounds = 50;
    store().barrier("alone", 1, Duration.ZERO);
    threads()
        .runTogether(
            size,
            rank -> {
              Store mine = rank % 2 == 0 ? store() : other();
              for (int round = 0; round < rounds; round++) {
                mine.add("arrived", 1);
                mine.barrier("b", size, Eventually.LIMIT);
                assertThat(mine.add("arrived", 0)).isGreaterThanOrEqualTo((round + 1L) * size);
                mine.barrier("b", size, Eventually.LIMIT);
              }
              return null;
            });
    assertThat(store().check(List.of("b"))).isFalse();
  }

  @Test
  default void aBarrierThatTimesOutTellsHowManyArrivedAndForgetsTheCaller() throws Exception {
    StoreTimeoutException timeout = timeoutOf(() -> store().barrier("b", 3, SHORT));
    assertThat(timeout).hasMessageContaining("1 of 3").hasMessageContaining("b\"");
    assertThat(timeout.missingKeys()).containsExactly("b");
    threads()
        .runTogether(
            2,
            rank -> {
              store().barrier("b", 2, Eventually.LIMIT);
              return null;
            });
  }

  @Test
  default void aBarrierRefusesADifferentWorldSize() throws Exception {
    Future<Object> first =
        threads()
            .start(
                () -> {
                  store().barrier("b", 2, Eventually.LIMIT);
                  return null;
                });
    awaitParked(1);
    assertThatThrownBy(() -> other().barrier("b", 3, Eventually.LIMIT))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("world of 3")
        .hasMessageContaining("expect 2");
    other().barrier("b", 2, Eventually.LIMIT);
    assertThat(Threads.result(first)).isNull();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store().barrier("b", 0, SHORT))
        .withMessageContaining("positive");
  }
}
