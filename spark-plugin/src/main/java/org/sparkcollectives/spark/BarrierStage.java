package org.sparkcollectives.spark;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.internal.driver.DriverStores;
import org.sparkcollectives.spark.internal.driver.JobResubmission;
import org.sparkcollectives.spark.internal.driver.RankShuffle;
import org.sparkcollectives.spark.internal.driver.SlotPreflight;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * An RDD whose partitions are computed at the same time, as the ranks of one group, in Spark's
 * barrier execution mode.
 *
 * <pre>{@code
 * JavaRDD<double[]> sums =
 *     BarrierStage.of(rows)
 *         .mapPartitions(
 *             (world, own) -> {
 *               double[] sum = sumOf(own);
 *               world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
 *               return List.of(sum).iterator();
 *             });
 * }</pre>
 *
 * <p>Beyond {@code rdd.barrier()}, it {@link SparkCollectives#install installs} the library if that
 * is not done yet, and says what is missing if there are too few slots for all ranks. It can try
 * again after a failure: {@link #withStageRetry} or {@link #withResubmissions}. By default a failed
 * rank fails the job.
 *
 * <p>Immutable: each {@code with} method returns another stage.
 *
 * @param <T> the type of the rows
 */
public final class BarrierStage<T> {

  private final RDD<T> rdd;
  private final GroupOptions options;
  private final boolean stageRetry;
  private final int resubmissions;

  private BarrierStage(RDD<T> rdd, GroupOptions options, boolean stageRetry, int resubmissions) {
    this.rdd = rdd;
    this.options = options;
    this.stageRetry = stageRetry;
    this.resubmissions = resubmissions;
  }

  /** Creates a stage with one rank for each partition of {@code rdd}. */
  public static <T> BarrierStage<T> of(JavaRDD<T> rdd) {
    return of(Objects.requireNonNull(rdd, "rdd").rdd());
  }

  /**
   * Creates a stage with one rank for each partition of {@code rdd}, a Scala RDD. {@code
   * rdd.barrier().mapPartitions} with {@link SparkCollectives#world} makes the same group, without
   * what this class does before and after.
   */
  public static <T> BarrierStage<T> of(RDD<T> rdd) {
    return new BarrierStage<>(
        Objects.requireNonNull(rdd, "rdd"), GroupOptions.defaults(), false, 0);
  }

  /**
   * Returns this stage with options for the world group.
   *
   * @throws IllegalArgumentException if they have members or local synchronisation, which are for
   *     groups created from another one; the world group is all tasks
   */
  public BarrierStage<T> withOptions(GroupOptions world) {
    Objects.requireNonNull(world, "world");
    if (world.ranks().length > 0 || world.localSynchronization()) {
      throw new IllegalArgumentException(
          "The world group of a barrier stage is all its tasks: members and local synchronisation"
              + " are for groups made from it, see ProcessGroup.newGroup");
    }
    return new BarrierStage<>(rdd, world, stageRetry, resubmissions);
  }

  /**
   * Returns this stage with a shuffle behind the ranks. Spark then runs all ranks again when one
   * fails, for whatever reason, instead of failing the job: in all up to {@code
   * spark.stage.maxConsecutiveAttempts} times (4), once there are slots for all.
   *
   * <p>Each attempt has a new group, and all ranks start with their first row. {@link
   * ProcessGroup#restore} returns what an earlier attempt has checkpointed. The rows that the ranks
   * return pass through Spark's shuffle files; they stay in the partition of their rank, and in
   * order.
   */
  public BarrierStage<T> withStageRetry() {
    return new BarrierStage<>(rdd, options, true, resubmissions);
  }

  /**
   * Returns this stage with a job that {@link #collect} submits again when it fails because an
   * executor or the connection to one was lost, once there are slots for all ranks again. An
   * exception that a rank throws itself fails the job at once.
   *
   * @param most how often the job is submitted again; 0, the default, for never
   */
  public BarrierStage<T> withResubmissions(int most) {
    if (most < 0) {
      throw new IllegalArgumentException("The number of resubmissions is negative: " + most);
    }
    return new BarrierStage<>(rdd, options, stageRetry, most);
  }

  /**
   * Returns the RDD of the rows that the ranks return. As with any transformation, the ranks run
   * when an action needs the RDD.
   *
   * <p>This call first checks that the cluster can run all ranks at the same time, with the
   * resources that {@code RDD.withResources} requests. It blocks while executors are still
   * starting, for up to {@link SparkPluginConfiguration#PREFLIGHT_TIMEOUT}.
   *
   * <p>The checkpoints of the ranks ({@link ProcessGroup#checkpoint}) belong to this call. Each
   * attempt of its stage has them, and if a job fails, so has the next one on the same RDD. They
   * are removed when a job succeeds, or with the application.
   *
   * @throws IllegalStateException if there are not enough slots, or {@code rdd} has another number
   *     of partitions than an RDD of the same stage; the message has the numbers
   */
  public <R> JavaRDD<R> mapPartitions(RankFunction<T, R> function) {
    return mapPartitions(function, UUID.randomUUID().toString());
  }

  private <R> JavaRDD<R> mapPartitions(RankFunction<T, R> function, String call) {
    Objects.requireNonNull(function, "function");
    SparkCollectives.install(rdd.sparkContext());
    SlotPreflight.check(rdd);
    ClassTag<R> any = ClassTag$.MODULE$.apply(Object.class);
    RankTask<T, R> task = new RankTask<>(function, options, call);
    JavaRDD<R> ranks = JavaRDD.fromRDD(rdd.barrier().mapPartitions(task, false, any), any);
    return stageRetry ? RankShuffle.behind(ranks) : ranks;
  }

  /**
   * Runs the ranks now, and returns their rows in the order of the ranks. Blocks until all have
   * finished.
   *
   * <p>A job that is {@link #withResubmissions submitted again} starts anew with all ranks in a new
   * group, and {@link ProcessGroup#restore} returns what those of an earlier job have checkpointed.
   *
   * <p>If a rank throws, this throws what Spark throws for a stage that is no barrier stage: {@code
   * SparkException} with the exception of the rank that failed first as cause; or, if that is an
   * error with a condition of Spark's, such as that of a function in SQL, this error itself.
   *
   * @throws IllegalStateException if there are not enough slots, or {@code rdd} has another number
   *     of partitions than an RDD of the same stage; the message has the numbers
   */
  public <R> List<R> collect(RankFunction<T, R> function) {
    String call = UUID.randomUUID().toString();
    JavaRDD<R> ranks = mapPartitions(function, call);
    try {
      return new JobResubmission(rdd.sparkContext(), call, resubmissions)
          .run(ranks::collect, () -> SlotPreflight.check(rdd));
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw BarrierStage.<RuntimeException>unchecked(e);
    } finally {
      DriverStores.release(SparkEnv.get(), call);
    }
  }

  /**
   * Throws any exception without declaring it, as Spark does; wrapping it would hide the first
   * cause.
   */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Exception> E unchecked(Exception e) throws E {
    throw (E) e;
  }

  /** The function that Spark serializes and runs as one task. */
  private static final class RankTask<T, R>
      extends AbstractFunction1<scala.collection.Iterator<T>, scala.collection.Iterator<R>>
      implements Serializable {

    private static final long serialVersionUID = 1;

    private final RankFunction<T, R> function;
    private final GroupOptions options;
    private final String call;

    RankTask(RankFunction<T, R> function, GroupOptions options, String call) {
      this.function = function;
      this.options = options;
      this.call = call;
    }

    @Override
    @SuppressWarnings("deprecation") // The converters' successors do not exist in Scala 2.12.
    public scala.collection.Iterator<R> apply(scala.collection.Iterator<T> rows) {
      Iterator<T> input = scala.collection.JavaConverters.asJavaIterator(rows);
      return scala.collection.JavaConverters.asScalaIterator(call(input));
    }

    private Iterator<R> call(Iterator<T> rows) {
      try {
        return function.call(SparkCollectives.world(options, call), rows);
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw BarrierStage.<RuntimeException>unchecked(e);
      }
    }
  }
}
