package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests who may enter, and until when. */
final class EntranceTest {

  private static final Duration SHORT = Duration.ofMillis(50);
  private static final Duration LONG = Duration.ofSeconds(30);

  private final Entrance entrance = new Entrance();

  private boolean closesOnAnotherThread(Duration atMost) {
    return CompletableFuture.supplyAsync(() -> entrance.close(atMost)).join();
  }

  @Test
  void itDoesNotCloseWhileSomebodyIsWithin() {
    assertThat(entrance.enter()).isTrue();
    assertThat(closesOnAnotherThread(SHORT)).isFalse();
    assertThat(entrance.enter()).isTrue();
    entrance.leave();
    entrance.leave();
    assertThat(closesOnAnotherThread(LONG)).isTrue();
  }

  @Test
  void nobodyComesInAfterwardsAndItStaysClosedForAll() {
    assertThat(closesOnAnotherThread(LONG)).isTrue();
    assertThat(entrance.enter()).isFalse();
    assertThat(entrance.close(SHORT)).isTrue();
  }

  @Test
  void anInterruptIsKept() {
    Thread.currentThread().interrupt();
    assertThat(entrance.close(LONG)).isTrue();
    assertThat(Thread.interrupted()).isTrue();
  }
}
