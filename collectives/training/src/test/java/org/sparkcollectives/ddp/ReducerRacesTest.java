package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.testing.Threads;

/** Tests marks, launches, the end of a step and an abort by threads at full speed. */
class ReducerRacesTest {

  private static final int ROUNDS = 4000;

  private interface Round {
    void run() throws Exception;
  }

  private static void often(Round round) throws Exception {
    for (int i = 0; i < ROUNDS; i++) {
      round.run();
    }
  }

  /** Two buckets: of the parameters 2 and 1, and of 0. */
  private static LoneStep step() {
    return new LoneStep(new int[] {2, 1}, new int[] {0});
  }

  private final Threads threads = new Threads();

  @AfterEach
  void endThreads() {
    threads.close();
  }

  /** Runs calls at the same time, and returns what each has thrown; null if nothing. */
  private List<Throwable> together(Runnable... calls) throws Exception {
    AtomicInteger missing = new AtomicInteger(calls.length);
    return threads.runTogether(
        calls.length,
        i ->
            catchThrowable(
                () -> {
                  // Closer together than threads that have to be woken.
                  missing.decrementAndGet();
                  while (missing.get() > 0) {
                    Thread.yield();
                  }
                  calls[i].run();
                }));
  }

  @Test
  void marksOfSeveralThreadsBeginEachBucketOnceAndInOrder() throws Exception {
    often(
        () -> {
          LoneStep step = step();
          assertThat(together(() -> step.mark(2), () -> step.mark(1), () -> step.mark(0)))
              .containsOnlyNulls();
          assertThat(step.begun()).containsExactly(0);
          assertThat(step.finish()).isNull();
          assertThat(step.begun()).containsExactly(0, 1);
        });
  }

  @Test
  void ofTwoMarksOfAParameterExactlyOneIsRefused() throws Exception {
    often(
        () -> {
          LoneStep step = step();
          assertThat(together(() -> step.mark(0), () -> step.mark(0)))
              .filteredOn(thrown -> thrown != null)
              .hasSize(1);
        });
  }

  @Test
  void aFinishBesideAMarkEitherTakesItOrRefusesIt() throws Exception {
    often(
        () -> {
          LoneStep step = step();
          step.mark(1);
          step.mark(0);
          AtomicReference<Throwable> failure = new AtomicReference<>();
          List<Throwable> thrown = together(() -> step.mark(2), () -> failure.set(step.finish()));
          assertThat(step.begun()).containsExactly(0, 1);
          assertThat(failure.get() == null).isEqualTo(thrown.get(0) == null);
        });
  }

  @Test
  void aGradientThatCannotBeReadFailsTheStepAlsoBesideTheFinish() throws Exception {
    often(
        () -> {
          LoneStep step = LoneStep.ofUnreadable(new int[] {0});
          AtomicReference<Throwable> failure = new AtomicReference<>();
          together(() -> step.mark(0), () -> failure.set(step.finish()));
          assertThat(failure.get()).isNotNull();
        });
  }

  @Test
  void anAbortBesideMarksAndTheFinishLeavesNobodyWaiting() throws Exception {
    often(
        () -> {
          LoneStep step = step();
          step.mark(0);
          List<Throwable> thrown =
              together(
                  () -> step.mark(2),
                  () -> {
                    markUnlessAborted(step, 1);
                    step.finish();
                  },
                  () -> step.group().abort(new IllegalStateException("on purpose")));
          List<Integer> begun = step.begun();
          assertThat(begun).isEqualTo(List.of(0, 1).subList(0, begun.size()));
          if (begun.size() < 2) {
            assertThat(thrown.get(1)).isInstanceOf(CollectiveException.class);
          }
        });
  }

  private static void markUnlessAborted(LoneStep step, int parameter) {
    try {
      step.mark(parameter);
    } catch (CollectiveException e) {
      // finish throws, too.
    }
  }
}
