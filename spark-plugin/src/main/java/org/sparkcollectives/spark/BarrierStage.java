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
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * An RDD whose partitions are to be computed at the same time, as the ranks of one group: Spark's
 * barrier execution mode, for Java.
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

  /** One rank for each partition of {@code rdd}. */
  public static <T> BarrierStage<T> of(JavaRDD<T> rdd) {
    return of(Objects.requireNonNull(rdd, "rdd").rdd());
  }

  /**
   * One rank for each partition of {@code rdd}, an RDD of Scala's. Where the preflight and the
   * options are not needed, {@code rdd.barrier().mapPartitions} with {@link SparkCollectives#world}
   * does as well.
   */
  public static <T> BarrierStage<T> of(RDD<T> rdd) {
    return new BarrierStage<>(
        Objects.requireNonNull(rdd, "rdd"), GroupOptions.defaults(), false, 0);
  }

  /**
   * With the options of the world group.
   *
   * @throws IllegalArgumentException if they have members or local synchronisation, which are for
   *     groups made from another; the world is all tasks
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
   * With a shuffle right behind the ranks, so that Spark runs them all again when one fails,
   * instead of failing the job: whatever the reason was, up to {@code
   * spark.stage.maxConsecutiveAttempts} times (4), once there are slots for all.
   *
   * <p>Each attempt has a new group, and all ranks begin with their first row; {@link
   * ProcessGroup#restore} gives them what an earlier attempt has kept. The rows that they return
   * pass through Spark's shuffle files, and stay in the partition of their rank and in order.
   */
  public BarrierStage<T> withStageRetry() {
    return new BarrierStage<>(rdd, options, true, resubmissions);
  }

  /**
   * With a job that {@link #collect} submits again when it fails because an executor or the
   * connection to one was lost, once there are slots for all ranks again. What the ranks threw
   * themselves fails it at once.
   *
   * @param most how often; 0 for never, which is how it is without this
   */
  public BarrierStage<T> withResubmissions(int most) {
    if (most < 0) {
      throw new IllegalArgumentException("The number of resubmissions is negative: " + most);
    }
    return new BarrierStage<>(rdd, options, stageRetry, most);
  }

  /**
   * The RDD of what the ranks return. As with any transformation, they run when an action needs it.
   *
   * <p>Before that, here, it is made sure that the cluster can run them all at the same time, with
   * what {@code RDD.withResources} asks for; blocks while executors are still starting, for up to
   * {@link SparkPluginConfiguration#PREFLIGHT_TIMEOUT}.
   *
   * <p>What the ranks keep with {@link ProcessGroup#checkpoint} belongs to this call, is there for
   * each attempt of its stage, and, when a job fails, for the next one on the same RDD; it goes
   * when a job succeeds, or with the application.
   *
   * @throws IllegalStateException if there are not enough slots, with the arithmetic
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
   * What the ranks return, in the order of their ranks. Blocks until they all have; they run now.
   *
   * <p>A job that is {@link #withResubmissions submitted again} begins anew with all ranks in a new
   * group, and {@link ProcessGroup#restore} gives them what those of an earlier one have kept.
   *
   * @throws IllegalStateException if there are not enough slots, with the arithmetic
   */
  public <R> List<R> collect(RankFunction<T, R> function) {
    String call = UUID.randomUUID().toString();
    JavaRDD<R> ranks = mapPartitions(function, call);
    try {
      return new JobResubmission(rdd.sparkContext(), resubmissions)
          .run(ranks::collect, () -> SlotPreflight.check(rdd));
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw BarrierStage.<RuntimeException>unchecked(e);
    } finally {
      DriverStore.release(SparkEnv.get(), call);
    }
  }

  /** Spark takes and throws any exception unannounced; wrapping it would hide the first cause. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Exception> E unchecked(Exception e) throws E {
    throw (E) e;
  }

  /** What Spark serializes and runs as one task. */
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
