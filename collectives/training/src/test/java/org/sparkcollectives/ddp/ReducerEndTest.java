package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests what a reducer does when its group has failed or it is closed. */
@ExtendWith({LeakCheck.class, InvocationName.class})
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"HEAP", "DETAIL", "TCP"})
class ReducerEndTest {

  private static final ReducerOptions SMALL_BUCKETS = ReducerOptions.defaults().withBucketBytes(12);

  @org.junit.jupiter.params.Parameter private Paths paths;

  @Test
  void afterAShrinkTheReducerGoesOnInTheSmallerGroup() {
    Phaser left = new Phaser(3);
    GroupRuns.run(
        3,
        paths,
        group -> {
          TestModel model = new TestModel(false, new long[] {3}, new long[] {2});
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), ReducerOptions.defaults())) {
            model.step(reducer, 1);
            // A rank may leave the step while another is still in it, and would fail it.
            left.arriveAndAwaitAdvance();
            if (group.rank() == 2) {
              reducer.beginForward();
              group.abort(new IllegalStateException("lost"));
              return null;
            }
            // The other rank may be lost before this one has begun the step.
            assertThatThrownBy(() -> model.step(reducer, 9))
                .isInstanceOf(CollectiveException.class);
            try (ProcessGroup smaller = group.shrink(2)) {
              reducer.setProcessGroup(smaller);
              model.assertGradients(reducer, 0);
              assertThat(reducer.processGroup().size()).isEqualTo(2);
              model.assertNextStepsWork(smaller, reducer);
            }
          }
          return null;
        });
  }

  @Test
  void aRankThatDoesNotFinishIsWaitedForNoLongerThanTheTimeout() {
    // The timeout is long enough for a busy machine to create a reducer, so it is awaited once
    // only.
    if (paths != Paths.TCP) {
      return;
    }
    GroupRuns.run(
        2,
        paths,
        world -> {
          ProcessGroup group = world.withTimeout(Duration.ofSeconds(4));
          TestModel model = TestModel.of(3);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), ReducerOptions.defaults())) {
            reducer.beginBackward();
            reducer.markReady(0);
            if (group.rank() == 0) {
              assertThatThrownBy(reducer::finish).isInstanceOf(CollectiveException.class);
            } else {
              assertThatThrownBy(() -> reducer.processGroup().recv(Tensor.of(1f), 0).await())
                  .isInstanceOf(CollectiveException.class);
            }
          }
          return null;
        });
  }

  @Test
  void marksThatRaceWithAnAbortEndWithItsCause() {
    for (int run = 0; run < 10; run++) {
      GroupRuns.run(
          2,
          paths,
          group -> {
            TestModel model = TestModel.of(3, 4, 5);
            try (GradientReducer reducer =
                GradientReducer.create(group, model.parameters(), SMALL_BUCKETS)) {
              Thread aborting =
                  new Thread(
                      () -> group.abort(new IllegalStateException("on purpose")), "aborting");
              assertThatThrownBy(
                      () -> {
                        group.barrier().await();
                        if (group.rank() == 1) {
                          aborting.start();
                        }
                        for (int i = 0; i < 10_000; i++) {
                          model.step(reducer, 1);
                        }
                      })
                  .isInstanceOf(CollectiveException.class);
              aborting.join();
            }
            return null;
          });
    }
  }

  private interface Model {
    List<Parameter> parameters(ProcessGroup group) throws Exception;
  }

  private interface SlowMarking {
    void run(ProcessGroup group, GradientReducer reducer, SlowMark mark) throws Exception;
  }

  /** Runs two ranks in the backward pass of a step whose marks can be held up. */
  private void withSlowMark(Model model, SlowMarking marking) {
    GroupRuns.run(
        2,
        paths,
        group -> {
          SlowMark mark = new SlowMark();
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(group), SMALL_BUCKETS, mark::nanos)) {
            reducer.beginBackward();
            marking.run(group, reducer, mark);
          }
          return null;
        });
  }

  @Test
  void aFinishThatGivesUpWaitingForAMarkEndsTheGroupOnAllRanks() {
    withSlowMark(
        group -> TestModel.of(3).parameters(),
        (group, reducer, mark) -> {
          if (group.rank() == 0) {
            reducer.markReady(0);
            group.store().set("rank 0 has its reducer", new byte[0]);
            assertThatThrownBy(reducer::finish)
                .isInstanceOf(PeerFailedException.class)
                .hasMessageContaining("Interrupted while waiting for marks of gradients");
          } else {
            CompletableFuture<Throwable> marked = mark.begin(() -> reducer.markReady(0));
            group.store().get("rank 0 has its reducer");
            Thread.currentThread().interrupt();
            assertThatThrownBy(reducer::finish)
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("Interrupted while waiting for marks of gradients");
            assertThat(Thread.interrupted()).isTrue();
            mark.end();
            assertThat(marked.get(30, TimeUnit.SECONDS)).isInstanceOf(CollectiveException.class);
          }
        });
  }

  @Test
  void aFinishThatWaitsForAMarkEndsWithTheGroup() {
    for (int rank = 0; rank < 2; rank++) {
      int aborting = rank;
      withSlowMark(
          group -> TestModel.of(3).parameters(),
          (group, reducer, mark) -> {
            if (group.rank() == 0) {
              reducer.markReady(0);
              group.store().set("rank 0 has its reducer", new byte[0]);
              if (aborting == 0) {
                group.store().get("rank 1 waits for a mark");
                group.abort(new IllegalStateException("on purpose"));
              }
              assertThatThrownBy(reducer::finish).isInstanceOf(CollectiveException.class);
            } else {
              CompletableFuture<Throwable> marked = mark.begin(() -> reducer.markReady(0));
              group.store().get("rank 0 has its reducer");
              Thread watching =
                  whenWaits(
                      Thread.currentThread(),
                      () -> {
                        group.store().set("rank 1 waits for a mark", new byte[0]);
                        if (aborting == 1) {
                          group.abort(new IllegalStateException("on purpose"));
                        }
                      });
              watching.start();
              assertThatThrownBy(reducer::finish)
                  .isInstanceOf(CollectiveException.class)
                  .hasMessageContaining("The wait for the marks of bucket 0")
                  .hasMessageContaining("rank " + aborting)
                  .hasStackTraceContaining("on purpose");
              watching.join();
              mark.end();
              assertThat(marked.get(30, TimeUnit.SECONDS)).isInstanceOf(CollectiveException.class);
            }
          });
    }
  }

  @Test
  void aMarkThatFailsWhileFinishWaitsForItFailsTheStepOnAllRanks() {
    withSlowMark(
        UnreadableGradient::onRankOne,
        (group, reducer, mark) -> {
          if (group.rank() == 0) {
            reducer.markReady(0);
          } else {
            mark.begin(() -> reducer.markReady(0));
            whenWaits(Thread.currentThread(), mark::end).start();
          }
          assertThatThrownBy(reducer::finish)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("rank 1 could not read the gradient of parameter 0");
        });
  }

  private static Thread whenWaits(Thread waiting, Runnable call) {
    return new Thread(
        () -> {
          Eventually.holds(
              () -> waiting.getState() == Thread.State.TIMED_WAITING, () -> "finish does not wait");
          call.run();
        },
        "watching");
  }

  /** Stops a thread that marks a gradient where it asks for the time. */
  private static final class SlowMark {
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private volatile Thread thread;

    CompletableFuture<Throwable> begin(Runnable mark) throws InterruptedException {
      CompletableFuture<Throwable> thrown = new CompletableFuture<>();
      thread = new Thread(() -> thrown.complete(catchThrowable(mark::run)), "marking");
      thread.start();
      begun.await();
      return thrown;
    }

    long nanos() {
      if (Thread.currentThread() == thread) {
        begun.countDown();
        awaitEnd();
      }
      return System.nanoTime();
    }

    private void awaitEnd() {
      try {
        assertThat(mayEnd.await(30, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    void end() {
      mayEnd.countDown();
    }
  }

  @Test
  void aClosedReducerRefusesEverything() {
    GroupRuns.run(
        2,
        paths,
        group -> {
          TestModel model = TestModel.of(3);
          GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), ReducerOptions.defaults());
          reducer.close();
          reducer.close();
          assertThatThrownBy(reducer::beginForward)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("closed");
          assertThatThrownBy(() -> reducer.markReady(0)).hasMessageContaining("closed");
          return null;
        });
  }

  @Test
  void aClosedReducerTakesNoOtherGroup() {
    GroupRuns.run(
        2,
        paths,
        group -> {
          GradientReducer reducer =
              GradientReducer.create(group, TestModel.of(3).parameters(), SMALL_BUCKETS);
          reducer.close();
          assertThatThrownBy(() -> reducer.setProcessGroup(group))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("the reducer is closed");
          group.barrier().await();
          return null;
        });
  }
}
