package org.sparkcollectives.spark;

import java.util.Objects;
import java.util.function.Function;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.spark.internal.driver.StageChain;

/**
 * Runs a barrier stage on rows that come in any partitions: for libraries whose users give a
 * dataset, and do not count its partitions.
 *
 * <p>Each partition is a rank. The rows are repartitioned first if there are more partitions than
 * slots, or none, and if Spark does not compute them in a barrier stage as they are: behind {@code
 * coalesce}, {@code union} or {@code take}. A line of the log says so.
 */
public final class BarrierRows {

  private static final Logger LOG = LoggerFactory.getLogger(BarrierRows.class);

  private BarrierRows() {}

  /**
   * Runs {@code job}, an action with a barrier stage, on {@code rows}, and returns what it returns.
   * Blocks until it has ended.
   *
   * @param name of what runs, for the log
   */
  public static <T, R> R run(String name, JavaRDD<T> rows, Function<JavaRDD<T>, R> job) {
    Objects.requireNonNull(job, "job");
    int partitions = rows.getNumPartitions();
    int slots = slots(rows.context());
    if (partitions == 0) {
      return job.apply(rows.repartition(1));
    }
    if (slots > 0 && partitions > slots) {
      LOG.info(
          "{}: the rows are repartitioned from {} partitions to {}, because each is a rank and"
              + " there are {} slots",
          name,
          partitions,
          slots,
          slots);
      return job.apply(rows.repartition(slots));
    }
    if (StageChain.misfit(rows.rdd()).isPresent()) {
      LOG.info(
          "{}: the rows are repartitioned into {} partitions, because Spark cannot compute them in"
              + " a barrier stage as they are (coalesce, union or take)",
          name,
          partitions);
      return job.apply(rows.repartition(partitions));
    }
    return job.apply(rows);
  }

  private static int slots(SparkContext context) {
    return context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile());
  }
}
