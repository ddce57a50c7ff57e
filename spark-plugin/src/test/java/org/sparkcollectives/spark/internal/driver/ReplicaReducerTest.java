package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.CommHooks;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.ddp.ReducerOptions;
import org.sparkcollectives.spark.elastic.Replica;
import org.sparkcollectives.spark.elastic.ReplicaReducer;
import org.sparkcollectives.testing.Threads;

/** Averages the gradients of replicas that are threads, over the driver's store. */
@Timeout(300)
class ReplicaReducerTest {

  private final ReplicaThreads replicas = new ReplicaThreads(3, 2);
  private final Threads threads = new Threads();

  @AfterEach
  void close() {
    replicas.close();
    threads.close();
  }

  /** A replica whose gradients are its number and one. */
  private final class Model implements AutoCloseable {

    private final ReplicaThreads.Task task;
    private final Replica replica;
    private final double[] weights = {0, 0, 0};
    private final double[] bias = {0};

    /** The number of participants in each step. */
    private final double[] sizes = new double[1000];

    private ReplicaReducer reducer;

    Model(int number) {
      task = replicas.begin(number);
      replica = task.replica();
      replica.state("model", Tensor.of(weights), Tensor.of(bias), Tensor.of(sizes));
      reducer = ReplicaReducer.of(replica, parameters(), ReducerOptions.defaults());
    }

    private List<Parameter> parameters() {
      return List.of(
          Parameter.of("weights", Tensor.of(weights)), Parameter.of("bias", Tensor.of(bias)));
    }

    /** Makes a step; gradients descend by 1. */
    boolean step() {
      double[][] means = new double[2][];
      int step = (int) replica.startQuorum();
      reducer.step(
          gradients -> {
            gradients.beginForward();
            gradients.beginBackward();
            for (int parameter : new int[] {1, 0}) {
              Tensor gradient = gradients.gradient(parameter);
              double[] own = new double[(int) gradient.count()];
              Arrays.fill(own, replica.replicaId() + 1);
              gradient.copyFrom(Tensor.of(own));
              gradients.markReady(parameter);
            }
            gradients.finish();
            for (int parameter : new int[] {0, 1}) {
              Tensor gradient = gradients.gradient(parameter);
              means[parameter] = new double[(int) gradient.count()];
              Tensor.of(means[parameter]).copyFrom(gradient);
            }
          });
      if (!replica.shouldCommit()) {
        return false;
      }
      for (int i = 0; i < weights.length; i++) {
        weights[i] += means[0][i];
      }
      bias[0] += means[1][0];
      sizes[step] = replica.numParticipants();
      return true;
    }

    Model until(long steps) {
      while (replica.currentStep() < steps) {
        step();
      }
      return this;
    }

    @Override
    public void close() {
      reducer.close();
    }
  }

  @Test
  void theMeanIsOverThoseWhoTakePartInTheStep() throws Exception {
    try (Model first = new Model(0);
        Model second = new Model(1);
        Model lost = new Model(2)) {
      List<Future<Model>> survivors = new ArrayList<>();
      for (Model each : List.of(first, second)) {
        survivors.add(threads.start(() -> each.until(20)));
      }
      Threads.result(threads.start(() -> lost.until(5)));
      lost.task.dies();
      for (Future<Model> each : survivors) {
        Threads.result(each);
      }
      assertThat(first.sizes).startsWith(3, 3, 3, 3, 3, 2, 2).isEqualTo(second.sizes);
      // Of 1, 2 and 3, and then of 1 and 2.
      assertThat(first.weights).containsOnly(5 * 2 + 15 * 1.5).isEqualTo(second.weights);
      assertThat(first.bias).containsExactly(5 * 2 + 15 * 1.5).isEqualTo(second.bias);
    }
  }

  @Test
  void aHookReducesTheBucketsOfEachQuorum() throws Exception {
    try (Model first = new Model(0);
        Model second = new Model(1)) {
      for (Model each : List.of(first, second)) {
        each.reducer = each.reducer.withCommHook(CommHooks::float16);
      }
      Future<Model> other = threads.start(() -> second.until(3));
      first.until(3);
      Threads.result(other);
      assertThat(first.weights).containsOnly(3 * 1.5);
      assertThatThrownBy(() -> first.reducer.withCommHook(CommHooks::float16))
          .hasMessageContaining("before the first step");
    }
  }
}
