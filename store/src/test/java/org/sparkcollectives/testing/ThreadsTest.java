package org.sparkcollectives.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class ThreadsTest {

  @Test
  void theEndInterruptsTheThreadsAndWaitsForWhatTheyStillDo() throws Exception {
    Thread closing = Thread.currentThread();
    CountDownLatch begun = new CountDownLatch(1);
    AtomicBoolean ended = new AtomicBoolean();
    try (Threads threads = new Threads()) {
      threads.start(
          () -> {
            try {
              begun.countDown();
              new CountDownLatch(1).await();
            } finally {
              Eventually.holds(
                  () -> closing.getState() == Thread.State.TIMED_WAITING,
                  () -> "nobody waits for this thread");
              ended.set(true);
            }
            return null;
          });
      begun.await();
    }
    assertThat(ended).isTrue();
  }
}
