package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests the thread on which a reducer calls its hook. */
@ExtendWith(LeakCheck.class)
class HookReductionTest {

  @Test
  void whatIsQueuedFailsWhenTheReducerIsClosed() {
    GroupRuns.run(
        1,
        Paths.HEAP,
        group -> {
          HookReduction reduction =
              HookReduction.start(
                  group, bucket -> CompletableFuture.completedFuture(bucket.buffer()));
          CountDownLatch begun = new CountDownLatch(1);
          CompletableFuture<Throwable> running = new CompletableFuture<>();
          start(
              running,
              () ->
                  reduction.afterwards(
                      () -> {
                        begun.countDown();
                        try {
                          return new CountDownLatch(1).await(30, TimeUnit.SECONDS);
                        } catch (InterruptedException e) {
                          throw new IllegalStateException("stopped", e);
                        }
                      }));
          assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
          CompletableFuture<Throwable> queued = new CompletableFuture<>();
          Thread waiting = start(queued, () -> reduction.afterwards(() -> 1));
          while (waiting.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
          }
          reduction.close();
          assertThat(running.get(5, TimeUnit.SECONDS)).hasMessageContaining("stopped");
          assertThat(queued.get(5, TimeUnit.SECONDS))
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("was closed before its hook was called");
          assertThatThrownBy(() -> reduction.afterwards(() -> 1))
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("was closed before its hook was called");
          return null;
        });
  }

  private static Thread start(CompletableFuture<Throwable> thrown, Runnable call) {
    Thread thread = new Thread(() -> thrown.complete(catchThrowable(call::run)), "waiting");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}
