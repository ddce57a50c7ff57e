package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spark.elastic.DiLoCo;
import org.sparkcollectives.spark.elastic.DiLoCoOptions;
import org.sparkcollectives.testing.Threads;

/** Trains replicas that are threads and synchronize seldom, over the driver's store. */
@Timeout(300)
class DiLoCoTest {

  private final ReplicaThreads replicas = new ReplicaThreads(3, 2);
  private final Threads threads = new Threads();

  @AfterEach
  void close() {
    replicas.close();
    threads.close();
  }

  /** A replica whose inner step adds a number to each element. */
  private final class Model {

    private final ReplicaThreads.Task task;
    private final double[] weights;
    private final float[] bias;
    private final DiLoCo diloco;

    Model(int number, double begin, DiLoCoOptions options) {
      this(replicas.begin(number), begin, options);
    }

    Model(ReplicaThreads.Task task, double begin, DiLoCoOptions options) {
      this.task = task;
      weights = new double[] {begin, -begin};
      bias = new float[] {(float) (2 * begin)};
      diloco = DiLoCo.of(task.replica(), List.of(Tensor.of(weights), Tensor.of(bias)), options);
    }

    long round() {
      return task.replica().currentStep();
    }

    /** Makes one inner step. */
    boolean train(double change) {
      weights[0] += change;
      weights[1] -= change;
      bias[0] += (float) change;
      return diloco.step();
    }

    /** Trains until there were so many rounds, the first of which is the start. */
    void until(long rounds, double change) {
      while (round() < rounds) {
        train(change);
      }
    }
  }

  private void all(List<Callable<Void>> calls) throws Exception {
    List<Future<Void>> running = new ArrayList<>();
    calls.forEach(each -> running.add(threads.start(each)));
    for (Future<Void> each : running) {
      Threads.result(each);
    }
  }

  private static Callable<Void> call(Runnable run) {
    return () -> {
      run.run();
      return null;
    };
  }

  private void start(Model... models) throws Exception {
    List<Callable<Void>> calls = new ArrayList<>();
    for (Model each : models) {
      calls.add(call(each.diloco::start));
    }
    all(calls);
  }

  @Test
  void localSgdTakesTheMeanOfTheParametersAfterSoManySteps() throws Exception {
    DiLoCoOptions options = DiLoCoOptions.localSgd(4);
    Model first = new Model(0, 1, options);
    Model second = new Model(1, 99, options);
    start(first, second);
    assertThat(second.weights).as("all begin with those of the first").containsExactly(1, -1);
    assertThat(second.bias).containsExactly(2);
    for (int i = 0; i < 3; i++) {
      assertThat(first.train(1)).isFalse();
      assertThat(second.train(3)).isFalse();
    }
    assertThat(first.weights).containsExactly(4, -4);
    all(List.of(call(() -> first.until(2, 1)), call(() -> second.until(2, 3))));
    assertThat(first.weights).containsExactly(9, -9).isEqualTo(second.weights);
    assertThat(first.bias).containsExactly(10).isEqualTo(second.bias);
  }

  @Test
  void diLoCoGoesAnOuterStepWithNesterovsMomentumAlongTheMean() throws Exception {
    DiLoCoOptions options = DiLoCoOptions.of(5);
    Model first = new Model(0, 1, options);
    Model second = new Model(1, 1, options);
    start(first, second);
    double expected = 1;
    double velocity = 0;
    for (int round = 2; round <= 6; round++) {
      int until = round;
      all(List.of(call(() -> first.until(until, 1)), call(() -> second.until(until, 2))));
      double change = -5 * 1.5;
      velocity = 0.9 * velocity + change;
      expected -= 0.7 * (change + 0.9 * velocity);
      assertThat(first.weights[0]).isCloseTo(expected, within(1e-12));
      assertThat(first.weights).isEqualTo(second.weights);
      assertThat(first.bias[0]).isCloseTo((float) (expected + 1), within(1e-3f));
      assertThat(first.bias).isEqualTo(second.bias);
    }
  }

  @Test
  void fragmentsAreSynchronizedInTurn() throws Exception {
    DiLoCoOptions options = DiLoCoOptions.localSgd(4).withFragments(2);
    Model first = new Model(0, 0, options);
    Model second = new Model(1, 0, options);
    start(first, second);
    all(List.of(call(() -> first.until(2, 1)), call(() -> second.until(2, 3))));
    assertThat(first.weights).as("round 1 is not of these").containsExactly(2, -2);
    assertThat(second.weights).containsExactly(6, -6);
    assertThat(first.bias).containsExactly(4).isEqualTo(second.bias);
    all(List.of(call(() -> first.until(3, 1)), call(() -> second.until(3, 3))));
    assertThat(first.weights).containsExactly(8, -8).isEqualTo(second.weights);
    assertThat(first.bias).containsExactly(6);
    assertThat(second.bias).containsExactly(10);
  }

  @Test
  void aLossCostsNoInnerStepAndAReplacementHasNoPartInItsFirstRound() throws Exception {
    DiLoCoOptions options = DiLoCoOptions.localSgd(2);
    Model first = new Model(0, 0, options);
    Model second = new Model(1, 0, options);
    Model lost = new Model(2, 0, options);
    start(first, second, lost);
    all(
        List.of(
            call(() -> first.until(2, 1)),
            call(() -> second.until(2, 3)),
            call(
                () -> {
                  lost.train(50);
                  lost.task.dies();
                })));
    assertThat(first.weights).containsExactly(4, -4).isEqualTo(second.weights);

    Model replacement = new Model(2, 77, options);
    all(
        List.of(
            call(
                () -> {
                  while (first.task.replica().numParticipants() < 3) {
                    first.train(1);
                  }
                  first.until(20, 1);
                }),
            call(
                () -> {
                  while (second.task.replica().numParticipants() < 3) {
                    second.train(1);
                  }
                  second.until(20, 1);
                }),
            call(
                () -> {
                  replacement.diloco.start();
                  replacement.until(20, 1);
                })));
    assertThat(first.weights)
        .as("each round adds two to each, whoever takes part")
        .containsExactly(4 + 18 * 2, -4 - 18 * 2)
        .isEqualTo(second.weights)
        .isEqualTo(replacement.weights);
  }

  @Test
  void whoWasLeftOutHasNoPartInTheRoundInWhichItReturns() throws Exception {
    DiLoCoOptions options = DiLoCoOptions.localSgd(2);
    // The others give it up after this time.
    GroupOptions impatient = GroupOptions.defaults().withTimeout(Duration.ofSeconds(5));
    try (ReplicaThreads run = new ReplicaThreads(3, 2, impatient)) {
      Model first = new Model(run.begin(0), 0, options);
      Model second = new Model(run.begin(1), 0, options);
      Model frozen = new Model(run.begin(2), 0, options);
      start(first, second, frozen);
      CountDownLatch without = new CountDownLatch(2);
      all(
          List.of(
              call(() -> goOnWithout(first, without)),
              call(() -> goOnWithout(second, without)),
              () -> {
                frozen.train(50);
                without.await();
                frozen.until(20, 1);
                return null;
              }));
      assertThat(first.weights)
          .containsExactly(19 * 2, -19 * 2)
          .isEqualTo(second.weights)
          .isEqualTo(frozen.weights);
    }
  }

  private static void goOnWithout(Model model, CountDownLatch without) {
    model.until(4, 1);
    without.countDown();
    model.until(20, 1);
  }

  @Test
  void badOptionsAndParametersAreRefused() {
    assertThatThrownBy(() -> DiLoCoOptions.of(10).withFragments(3))
        .hasMessageContaining("a multiple of the fragments");
    assertThatThrownBy(() -> DiLoCoOptions.of(0)).hasMessageContaining("1 or more");
    assertThatThrownBy(() -> DiLoCoOptions.of(1).withLearningRate(0))
        .hasMessageContaining("above 0");
    assertThatThrownBy(() -> DiLoCoOptions.of(1).withMomentum(1)).hasMessageContaining("below 1");
    ReplicaThreads.Task task = replicas.begin(0);
    DiLoCoOptions options = DiLoCoOptions.of(2);
    List<Tensor> whole = List.of(Tensor.of(1, 2));
    assertThatThrownBy(() -> DiLoCo.of(task.replica(), whole, options))
        .hasMessageContaining("Parameter 0 is INT32");
    List<Tensor> one = List.of(Tensor.of(1.0));
    assertThatThrownBy(() -> DiLoCo.of(task.replica(), one, options.withFragments(2)))
        .hasMessageContaining("cannot be divided");
    DiLoCo diloco = DiLoCo.of(task.replica(), one, options);
    assertThatThrownBy(diloco::step).hasMessageContaining("start() must come before");
  }
}
