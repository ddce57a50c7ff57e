package org.sparkcollectives.spark.internal.driver;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that Spark will start the tasks of lost executors again, which only settings of the
 * application decide.
 */
public final class RetryPreflight {

  /** Fewer would end a run of a day on spot instances. */
  static final int LEAST_FAILURES = 100;

  private static final String MAX_FAILURES = "spark.task.maxFailures";
  private static final int SPARK_DEFAULT_FAILURES = 4;
  private static final String SPECULATION = "spark.speculation";
  private static final Logger LOG = LoggerFactory.getLogger(RetryPreflight.class);

  private RetryPreflight() {}

  /**
   * Checks the settings, and warns of rows that need files of executors which may be lost.
   *
   * @throws IllegalStateException saying what to set when the application starts
   * @throws IllegalArgumentException if the rows are computed by a barrier stage
   */
  public static void check(RDD<?> rows) {
    requireNoBarrier(rows);
    SparkContext context = rows.sparkContext();
    // A local master has no executor that could be lost.
    if (!context.isLocal()) {
      check(context.getConf());
      warnOfShuffles(rows);
    }
  }

  /**
   * Checks rows whose replicas are barrier stages of their own.
   *
   * @throws IllegalArgumentException if the rows are computed by a barrier stage
   */
  static void requireNoBarrier(RDD<?> rows) {
    if (rows.isBarrier()) {
      throw new IllegalArgumentException(
          "The rows of "
              + rows
              + " come from a barrier stage, which would make the replicas one: a lost executor"
              + " would end all of them. Keep the rows in between, by a shuffle or"
              + " RDD.checkpoint and an action");
    }
  }

  static void check(SparkConf conf) {
    int failures = conf.getInt(MAX_FAILURES, SPARK_DEFAULT_FAILURES);
    if (failures < LEAST_FAILURES) {
      throw new IllegalStateException(
          "An elastic stage loses a task with each lost executor, and Spark gives the job up after "
              + failures
              + " of one replica: set --conf "
              + MAX_FAILURES
              + "=1000 when the application starts ("
              + LEAST_FAILURES
              + " or more). An exception that a replica throws fails the job at once all the"
              + " same");
    }
    if (conf.getBoolean(SPECULATION, false)) {
      throw new IllegalStateException(
          "Speculation would begin a second task for a replica that trains, and the first would be"
              + " refused: set --conf "
              + SPECULATION
              + "=false when the application starts");
    }
  }

  private static void warnOfShuffles(RDD<?> rows) {
    if (StageChain.readsShuffle(rows)) {
      LOG.warn(
          "The rows of {} come from a shuffle. If an executor is lost whose files they need, Spark"
              + " ends the attempt of the stage, with all its replicas: checkpoint the rows first"
              + " (RDD.checkpoint), or use an external shuffle service",
          rows);
    }
  }
}
