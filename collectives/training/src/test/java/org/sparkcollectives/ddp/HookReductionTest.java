package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
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

  private static ReducerBucket bucket(ProcessGroup group, int index) {
    Tensor value = Tensor.of(1f);
    return new ReducerBucket(
        group, new ReducerBucket.Position(index, false), new int[] {index}, List.of(value), value);
  }

  /**
   * The first bucket's result is worked on, the second's waits for that, the third's comes late.
   */
  @Test
  void bucketsWithoutAResultFailWhenTheReducerIsClosedAndTheGroupGoesOn() {
    GroupRuns.run(
        1,
        Paths.HEAP,
        group -> {
          CountDownLatch working = new CountDownLatch(1);
          CompletableFuture<Tensor> late = new CompletableFuture<>();
          HookReduction reduction =
              HookReduction.start(
                  group,
                  bucket -> {
                    CompletableFuture<Tensor> sum =
                        bucket.index() == 2
                            ? late
                            : CompletableFuture.completedFuture(bucket.buffer());
                    return sum.thenApplyAsync(
                        result -> {
                          working.countDown();
                          interruptibly(() -> new CountDownLatch(1).await(30, TimeUnit.SECONDS));
                          return result;
                        },
                        bucket.executor());
                  });
          List<CompletableFuture<Throwable>> thrown = new ArrayList<>();
          for (int i = 0; i < 3; i++) {
            Runnable taken = reduction.begin(bucket(group, i), GradientMean.overRanks(1));
            thrown.add(new CompletableFuture<>());
            start(thrown.get(i), taken);
          }
          assertThat(working.await(30, TimeUnit.SECONDS)).isTrue();
          reduction.afterwards(() -> null);
          reduction.close();
          late.complete(Tensor.of(1f));
          for (CompletableFuture<Throwable> each : thrown) {
            assertThat(each.get(5, TimeUnit.SECONDS))
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("was closed before its result was there");
          }
          assertThat(group.isFailed()).isFalse();
          group.barrier().await();
          return null;
        });
  }

  private interface Wait {
    void run() throws InterruptedException;
  }

  private static void interruptibly(Wait wait) {
    try {
      wait.run();
    } catch (InterruptedException e) {
      throw new IllegalStateException("stopped", e);
    }
  }

  private static Thread start(CompletableFuture<Throwable> thrown, Runnable call) {
    Thread thread = new Thread(() -> thrown.complete(catchThrowable(call::run)), "waiting");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}
