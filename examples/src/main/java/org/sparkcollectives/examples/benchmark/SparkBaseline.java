package org.sparkcollectives.examples.benchmark;

import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spark.BarrierStage;
import org.sparkcollectives.spark.RankFunction;

/**
 * Measures the same result in the same application as Spark computes it without ranks: {@code
 * treeAggregate} and a broadcast for the sum of float32 arrays, {@code BarrierTaskContext.barrier}
 * for the barrier.
 */
final class SparkBaseline {

  /** The iterations if the plan does not say: these take seconds, not microseconds. */
  private static final int ITERATIONS = 10;

  private final JavaSparkContext spark;
  private final Plan plan;
  private final int ranks;

  SparkBaseline(JavaSparkContext spark, Plan plan, int ranks) {
    this.spark = spark;
    this.plan = plan;
    this.ranks = ranks;
  }

  /** Returns whether Spark has an operation to compare with. */
  static boolean exists(Plan plan) {
    return plan.operation() == Operation.BARRIER
        || (plan.operation() == Operation.ALL_REDUCE
            && plan.dtype() == DType.FLOAT32
            && plan.reduction() == ReduceOp.Kind.SUM);
  }

  void run(Consumer<Measurement> results) {
    int iterations = plan.iterations() > 0 ? plan.iterations() : ITERATIONS;
    for (long count : plan.counts(ranks)) {
      boolean barrier = plan.operation() == Operation.BARRIER;
      long[] nanos = barrier ? barriers(iterations) : sums(Math.toIntExact(count), iterations);
      results.accept(
          Measurement.of(
              barrier ? "BarrierTaskContext.barrier" : "treeAggregate + broadcast",
              plan,
              ranks,
              count,
              nanos,
              null,
              null));
    }
  }

  /** Returns the times on rank 0. */
  private long[] barriers(int iterations) {
    JavaRDD<Integer> rows = spark.parallelize(Collections.nCopies(ranks, 0), ranks);
    return BarrierStage.of(rows).mapPartitions(new Barriers(iterations)).collect().get(0);
  }

  private record Barriers(int iterations) implements RankFunction<Integer, long[]> {

    @Override
    public Iterator<long[]> call(ProcessGroup world, Iterator<Integer> rows) {
      BarrierTaskContext task = BarrierTaskContext.get();
      long[] nanos = new long[iterations];
      task.barrier();
      for (int i = 0; i < iterations; i++) {
        long start = System.nanoTime();
        task.barrier();
        nanos[i] = System.nanoTime() - start;
      }
      return List.of(nanos).iterator();
    }
  }

  /** Runs steps that each read the previous sum in every task, and add up the tasks' arrays. */
  private long[] sums(int count, int iterations) {
    JavaRDD<float[]> arrays =
        spark.parallelize(Collections.nCopies(ranks, count), ranks).map(float[]::new).cache();
    arrays.count();
    Broadcast<float[]> last = spark.broadcast(new float[count]);
    try {
      // The first step loads classes, and is not counted.
      long[] nanos = new long[iterations + 1];
      for (int i = 0; i < nanos.length; i++) {
        long start = System.nanoTime();
        Broadcast<float[]> current = last;
        float[] sum =
            arrays
                .map(array -> add(array.clone(), current.value()))
                .treeAggregate(new float[count], SparkBaseline::add, SparkBaseline::add);
        last = spark.broadcast(sum);
        nanos[i] = System.nanoTime() - start;
        current.destroy();
      }
      return Arrays.copyOfRange(nanos, 1, nanos.length);
    } finally {
      last.destroy();
      arrays.unpersist();
    }
  }

  private static float[] add(float[] sum, float[] other) {
    for (int i = 0; i < sum.length; i++) {
      sum[i] += other[i];
    }
    return sum;
  }
}
