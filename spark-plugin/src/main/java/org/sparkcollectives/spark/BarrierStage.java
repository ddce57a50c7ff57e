package org.sparkcollectives.spark;

import java.io.Serializable;
import java.util.Iterator;
import java.util.Objects;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import org.sparkcollectives.GroupOptions;
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

  private BarrierStage(RDD<T> rdd, GroupOptions options) {
    this.rdd = rdd;
    this.options = options;
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
    return new BarrierStage<>(Objects.requireNonNull(rdd, "rdd"), GroupOptions.defaults());
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
    return new BarrierStage<>(rdd, world);
  }

  /**
   * The RDD of what the ranks return. As with any transformation, they run when an action needs it.
   *
   * <p>Before that, here, it is made sure that the cluster can run them all at the same time, with
   * what {@code RDD.withResources} asks for; blocks while executors are still starting, for up to
   * {@link SparkPluginConfiguration#PREFLIGHT_TIMEOUT}.
   *
   * @throws IllegalStateException if there are not enough slots, with the arithmetic
   */
  public <R> JavaRDD<R> mapPartitions(RankFunction<T, R> function) {
    Objects.requireNonNull(function, "function");
    SparkCollectives.install(rdd.sparkContext());
    SlotPreflight.check(rdd);
    ClassTag<R> any = ClassTag$.MODULE$.apply(Object.class);
    return JavaRDD.fromRDD(
        rdd.barrier().mapPartitions(new RankTask<>(function, options), false, any), any);
  }

  /** What Spark serializes and runs as one task. */
  private static final class RankTask<T, R>
      extends AbstractFunction1<scala.collection.Iterator<T>, scala.collection.Iterator<R>>
      implements Serializable {

    private static final long serialVersionUID = 1;

    private final RankFunction<T, R> function;
    private final GroupOptions options;

    RankTask(RankFunction<T, R> function, GroupOptions options) {
      this.function = function;
      this.options = options;
    }

    @Override
    @SuppressWarnings("deprecation") // The converters' successors do not exist in Scala 2.12.
    public scala.collection.Iterator<R> apply(scala.collection.Iterator<T> rows) {
      Iterator<T> input = scala.collection.JavaConverters.asJavaIterator(rows);
      return scala.collection.JavaConverters.asScalaIterator(call(input));
    }

    private Iterator<R> call(Iterator<T> rows) {
      try {
        return function.call(SparkCollectives.world(options), rows);
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw RankTask.<RuntimeException>unchecked(e);
      }
    }

    /** Spark takes any exception from a task; wrapping it would hide the first cause. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Exception> E unchecked(Exception e) throws E {
      throw (E) e;
    }
  }
}
