package org.sparkcollectives.spark;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spark.elastic.LostRows;
import org.sparkcollectives.spark.elastic.Replica;
import org.sparkcollectives.spark.elastic.ReplicaRows;
import org.sparkcollectives.spark.internal.elastic.QuorumReplica;
import org.sparkcollectives.spark.internal.iteration.ElasticLoop;
import org.sparkcollectives.spark.internal.iteration.IterationFunctions;
import org.sparkcollectives.spark.internal.iteration.IterationLoop;
import org.sparkcollectives.spark.internal.iteration.JavaBytes;
import org.sparkcollectives.spark.iteration.Contribution;
import org.sparkcollectives.spark.iteration.IterationResult;
import org.sparkcollectives.spark.iteration.LossFunction;
import org.sparkcollectives.spark.iteration.RowLoader;
import org.sparkcollectives.spark.iteration.StateUpdate;
import org.sparkcollectives.spark.iteration.StopCondition;

/**
 * Runs an iterative algorithm over an RDD as one barrier stage. It replaces a loop on the driver
 * that, in each iteration, broadcasts a state and aggregates over the rows, for instance with
 * {@code treeAggregate}. An iteration makes no job, task or broadcast variable, and no row leaves
 * its rank.
 *
 * <pre>{@code
 * IterationResult<double[]> result =
 *     IterativeStage.of(points, new double[features])
 *         .withStopCondition((before, after, iteration) -> distance(before, after) < 1e-6)
 *         .run(
 *             100,
 *             (weights, rows, iteration) -> gradient(weights, rows),
 *             (weights, sum, iteration) -> step(weights, sum));
 * }</pre>
 *
 * <p>Each partition is a rank, see {@link BarrierStage}; so there must be as many slots as
 * partitions. A rank first loads its rows into its memory, once; by default into a list ({@link
 * RowLoader}). Then, in each iteration,
 *
 * <ol>
 *   <li>each rank computes an array of numbers from the state and its data ({@link Contribution});
 *   <li>these are added up over all ranks;
 *   <li>rank 0 computes the next state from the sum ({@link StateUpdate}), and all ranks get it.
 * </ol>
 *
 * <p><b>The state</b> is of any type that can be serialized, as whatever a closure captures. A
 * {@code double[]}, whose length must not change, travels as it is; other types are serialized in
 * each iteration, as {@link org.sparkcollectives.ObjectCollectives} does it.
 *
 * <p><b>The same bits on every run</b>: numbers are added in the order of the partitions, wherever
 * the ranks run, so the result depends on the partitions and their rows only, provided that the
 * functions return the same for the same arguments. The RDD must then give the same rows in the
 * same order each time; after a shuffle it does not, unless it is sorted or checkpointed.
 *
 * <p><b>Failures.</b> If a function throws, {@link #run} throws Spark's {@code SparkException}. Its
 * message has the rank, the iteration, and the stack trace of the rank's {@link
 * org.sparkcollectives.spark.iteration.IterationException}. When an executor is lost, {@code run}
 * fails, too, unless {@link #withResubmissions} or {@link #withStageRetry} say that the ranks start
 * again: from the beginning, or, with {@link #withCheckpointInterval}, from the last state that was
 * kept.
 *
 * <p>With {@link #withElasticity} it is an elastic stage instead of a barrier stage: when an
 * executor is lost, the other ranks take over its rows and repeat the iteration.
 *
 * <p>Immutable: each {@code with} method returns another stage.
 *
 * @param <T> the type of the rows
 * @param <S> the type of the state
 * @param <D> the type of a rank's own data
 */
public final class IterativeStage<T, S, D> {

  private final RDD<T> rdd;

  /** Null if it is an elastic stage. */
  private final BarrierStage<T> stage;

  private final S initial;
  private final RowLoader<T, D> loader;
  private final StopCondition<S> stop;
  private final LossFunction<S> loss;
  private final int checkpointInterval;

  private IterativeStage(
      RDD<T> rdd,
      BarrierStage<T> stage,
      S initial,
      RowLoader<T, D> loader,
      StopCondition<S> stop,
      LossFunction<S> loss,
      int checkpointInterval) {
    this.rdd = rdd;
    this.stage = stage;
    this.initial = initial;
    this.loader = loader;
    this.stop = stop;
    this.loss = loss;
    this.checkpointInterval = checkpointInterval;
  }

  /**
   * Creates a stage with one rank for each partition of {@code rdd}, whose data is the list of its
   * rows.
   *
   * @param initial the state before the first iteration; not changed
   */
  public static <T, S> IterativeStage<T, S, List<T>> of(JavaRDD<T> rdd, S initial) {
    return of(Objects.requireNonNull(rdd, "rdd").rdd(), initial);
  }

  /**
   * Creates a stage with one rank for each partition of {@code rdd}, a Scala RDD, whose data is the
   * list of its rows.
   *
   * @param initial the state before the first iteration; not changed
   */
  public static <T, S> IterativeStage<T, S, List<T>> of(RDD<T> rdd, S initial) {
    Objects.requireNonNull(initial, "initial");
    return new IterativeStage<>(
        rdd, BarrierStage.of(rdd), initial, IterativeStage::list, null, null, 0);
  }

  private static <T> List<T> list(Iterator<T> rows) {
    List<T> list = new ArrayList<>();
    rows.forEachRemaining(list::add);
    return list;
  }

  /**
   * Returns this stage with a loader that turns the rows of a rank into its data, such as a matrix,
   * instead of a list.
   */
  public <E> IterativeStage<T, S, E> withLoader(RowLoader<T, E> rowLoader) {
    Objects.requireNonNull(rowLoader, "rowLoader");
    return new IterativeStage<>(rdd, stage, initial, rowLoader, stop, loss, checkpointInterval);
  }

  /** Returns this stage with a condition that ends it before the last iteration. */
  public IterativeStage<T, S, D> withStopCondition(StopCondition<S> condition) {
    Objects.requireNonNull(condition, "condition");
    return new IterativeStage<>(rdd, stage, initial, loader, condition, loss, checkpointInterval);
  }

  /**
   * Returns this stage with a loss, which the result has for each iteration, and which the tab
   * "Collectives" of Spark's UI shows beside the number of the iteration.
   */
  public IterativeStage<T, S, D> withLoss(LossFunction<S> function) {
    Objects.requireNonNull(function, "function");
    return new IterativeStage<>(rdd, stage, initial, loader, stop, function, checkpointInterval);
  }

  /**
   * Returns this stage with checkpoints: the driver keeps the state after each {@code iterations}
   * of them, until the stage has ended. Ranks that start again ({@link #withResubmissions}, {@link
   * #withStageRetry}) go on from the last one, to the same bits as if nothing had happened. Each
   * costs some calls to the driver, that is milliseconds.
   *
   * @throws IllegalArgumentException if it is less than 1
   */
  public IterativeStage<T, S, D> withCheckpointInterval(int iterations) {
    if (iterations < 1) {
      throw new IllegalArgumentException(
          "A checkpoint is kept after 1 iteration or more, not after " + iterations);
    }
    return new IterativeStage<>(rdd, stage, initial, loader, stop, loss, iterations);
  }

  /**
   * Returns this stage with options for the group of its ranks; see {@link
   * BarrierStage#withOptions}. The timeout bounds how long ranks wait for the slowest one in an
   * iteration.
   */
  public IterativeStage<T, S, D> withOptions(GroupOptions world) {
    return with(barrier().withOptions(world));
  }

  /**
   * Returns this stage with Spark's own stage retry, after any failure; see {@link
   * BarrierStage#withStageRetry}.
   */
  public IterativeStage<T, S, D> withStageRetry() {
    return with(barrier().withStageRetry());
  }

  /**
   * Returns this stage with resubmissions: the job is submitted again when an executor was lost,
   * but not when a function has thrown; see {@link BarrierStage#withResubmissions}.
   *
   * @param most the most resubmissions; 0, the default, for none
   */
  public IterativeStage<T, S, D> withResubmissions(int most) {
    return with(barrier().withResubmissions(most));
  }

  private BarrierStage<T> barrier() {
    if (stage == null) {
      throw new IllegalStateException(
          "withElasticity() makes this an elastic stage; withOptions, withStageRetry and"
              + " withResubmissions are for barrier stages");
    }
    return stage;
  }

  private IterativeStage<T, S, D> with(BarrierStage<T> other) {
    return new IterativeStage<>(rdd, other, initial, loader, stop, loss, checkpointInterval);
  }

  /**
   * Returns this stage as an {@link ElasticStage}, with the same result: to the bit, whatever
   * executors are lost. When one is, the others take over its partitions and repeat the iteration;
   * Spark starts the lost task again, alone, and it gets its partition back. So slots for all
   * partitions at once are not needed, and dynamic allocation is allowed.
   *
   * <ul>
   *   <li>The RDD should be persisted, as a partition that is taken over is read again; see {@link
   *       org.sparkcollectives.spark.elastic.LostRows#TAKE_OVER}. Executors need the memory for it.
   *   <li>The application needs the settings of an {@link ElasticStage}.
   *   <li>Functions are called again for an iteration that is repeated, and the loader for a
   *       partition that is taken over. A change that a contribution makes to its data must not
   *       change its numbers.
   *   <li>If all executors are lost at once, {@link #run} fails, unless there is a checkpoint
   *       ({@link #withCheckpointInterval}).
   *   <li>{@link #withOptions}, {@link #withStageRetry} and {@link #withResubmissions} are for
   *       barrier stages: what they said before is dropped, and later they throw {@link
   *       IllegalStateException}.
   * </ul>
   */
  public IterativeStage<T, S, D> withElasticity() {
    return new IterativeStage<>(rdd, null, initial, loader, stop, loss, checkpointInterval);
  }

  /**
   * Runs the loop as a job of its own. Blocks until it has ended.
   *
   * @param maxIterations how many iterations there are at the most; 1 or more
   * @param contribution computes a rank's array from the state and the rank's data
   * @param update computes the next state from the sum of the arrays, on rank 0
   * @throws IllegalArgumentException if it is less than 1
   * @throws IllegalStateException if there are fewer slots than partitions; the message counts
   *     both. With {@link #withElasticity}, if settings do not let Spark start lost tasks again
   */
  public IterationResult<S> run(
      int maxIterations, Contribution<S, D> contribution, StateUpdate<S> update) {
    Objects.requireNonNull(contribution, "contribution");
    Objects.requireNonNull(update, "update");
    if (maxIterations < 1) {
      throw new IllegalArgumentException("There must be 1 iteration or more, not " + maxIterations);
    }
    Program<T, S, D> program =
        new Program<>(
            initial,
            loader,
            new IterationFunctions<>(contribution, update, stop, loss),
            maxIterations,
            checkpointInterval);
    if (stage == null) {
      ElasticStage<T> replicas = ElasticStage.of(rdd).withLostRows(LostRows.TAKE_OVER);
      int partitions = rdd.getNumPartitions();
      byte[] result =
          (checkpointInterval > 0 ? replicas.withCheckpointInterval(checkpointInterval) : replicas)
              .run((replica, rows) -> program.iterate(replica, rows, partitions));
      return JavaBytes.read(result);
    }
    List<byte[]> results = stage.collect(program);
    if (results.isEmpty()) {
      throw new IllegalArgumentException("The RDD has no partitions, so there are no ranks");
    }
    return JavaBytes.read(results.get(0));
  }

  /** The function of each rank; that of rank 0 returns the result as bytes. */
  private record Program<T, S, D>(
      S initial,
      RowLoader<T, D> loader,
      IterationFunctions<S, D> functions,
      int maxIterations,
      int checkpointInterval)
      implements RankFunction<T, byte[]> {

    @Override
    public Iterator<byte[]> call(ProcessGroup world, Iterator<T> rows) {
      return new IterationLoop<>(world, functions, maxIterations, checkpointInterval)
              .run(
                  initial, () -> rows.hasNext() ? Optional.of(loader.load(rows)) : Optional.empty())
              .map(JavaBytes::of)
              .stream()
              .iterator();
    }

    /** The function of each replica, in an elastic stage. */
    byte[] iterate(Replica replica, ReplicaRows<T> rows, int partitions) {
      return JavaBytes.of(
          new ElasticLoop<>(
                  (QuorumReplica) replica, rows, loader, functions, partitions, maxIterations)
              .run(initial));
    }
  }
}
