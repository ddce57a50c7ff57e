package org.sparkcollectives.spark;

import java.io.Serializable;
import java.util.Iterator;
import java.util.Objects;
import org.apache.spark.api.java.JavaRDD;
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

  private final JavaRDD<T> rdd;
  private final StageOptions options;

  private BarrierStage(JavaRDD<T> rdd, StageOptions options) {
    this.rdd = rdd;
    this.options = options;
  }

  /** One rank for each partition of {@code rdd}. */
  public static <T> BarrierStage<T> of(JavaRDD<T> rdd) {
    return new BarrierStage<>(Objects.requireNonNull(rdd, "rdd"), StageOptions.DEFAULTS);
  }

  /** With the options of the world group. */
  public BarrierStage<T> withOptions(GroupOptions group) {
    return new BarrierStage<>(rdd, StageOptions.of(group));
  }

  /**
   * The RDD of what the ranks return. As with any transformation, they run when an action needs it.
   *
   * <p>Before that, here, it is made sure that the cluster can run them all at the same time;
   * blocks while executors are still starting, see {@link SlotPreflight}.
   *
   * @throws IllegalStateException if there are not enough slots, with the arithmetic
   */
  public <R> JavaRDD<R> mapPartitions(RankFunction<T, R> function) {
    SparkCollectives.install(rdd.rdd().sparkContext());
    SlotPreflight.check(rdd.rdd().sparkContext(), rdd.getNumPartitions());
    ClassTag<R> any = ClassTag$.MODULE$.apply(Object.class);
    return JavaRDD.fromRDD(
        rdd.rdd().barrier().mapPartitions(new RankTask<>(function, options), false, any), any);
  }

  /** What Spark serializes and runs as one task. */
  private static final class RankTask<T, R>
      extends AbstractFunction1<scala.collection.Iterator<T>, scala.collection.Iterator<R>>
      implements Serializable {

    private static final long serialVersionUID = 1;

    private final RankFunction<T, R> function;
    private final StageOptions options;

    RankTask(RankFunction<T, R> function, StageOptions options) {
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
        return function.call(SparkCollectives.world(options.groupOptions()), rows);
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
