package org.sparkcollectives.internal.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.LeakCheck;

@ExtendWith(LeakCheck.class)
class WatchdogGuardTest {

  /** Blocks the watchdog until it is released. */
  private static final class Blocking implements Watchdog.Watched {
    private final CountDownLatch within = new CountDownLatch(1);
    private final CountDownLatch letGo = new CountDownLatch(1);

    @Override
    public void poll() {
      within.countDown();
      try {
        letGo.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Test
  void allThatIsWatchedHearsWhereTheWatchdogIsStuck() throws Exception {
    Blocking blocking = new Blocking();
    CompletableFuture<String> reported = new CompletableFuture<>();
    try (Watchdog watchdog = new Watchdog()) {
      watchdog.watch(
          new Watchdog.Watched() {
            @Override
            public void poll() {}

            @Override
            public void watchdogStuck(String what) {
              reported.complete(what);
            }
          });
      watchdog.watch(blocking);
      blocking.within.await();
      // The guard starts only when the watchdog is stuck: on a busy machine the watchdog may not
      // have polled before.
      try (WatchdogGuard guard = new WatchdogGuard(watchdog, Duration.ofMillis(200))) {
        assertThat(guard).isNotNull();
        assertThat(reported.get(30, TimeUnit.SECONDS))
            .contains("the watchdog of this JVM has not run for")
            .contains("thread \"collectives-watchdog\" (WAITING)")
            .contains("WatchdogGuardTest$Blocking.poll");
      } finally {
        blocking.letGo.countDown();
      }
    }
  }
}
