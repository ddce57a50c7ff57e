package org.sparkcollectives.spark.internal.protocol;

/** Determines from Spark's text why it killed a task. */
public final class KillReason {

  private static final String CANCELLED = "Stage cancelled";

  private static final String TEAR_DOWN = "Process group failed: ";

  private KillReason() {}

  /** Returns the reason for a task that fails with its group, for the cause in {@code words}. */
  public static String tearDown(String words) {
    return TEAR_DOWN + words;
  }

  /**
   * Returns whether the task was killed because its whole stage ends, for a reason that lies
   * elsewhere: another of its tasks has failed, or its job, or a group of its tasks. Only Spark's
   * DAGScheduler and TaskSchedulerImpl know that, and their texts are the only sign. There is one
   * text for the other tasks of a barrier stage, and one for the tasks of a job that ends, which
   * may come first. Spark 3.5 gives no reason for the latter; Spark 4 puts "Stage cancelled: "
   * before each.
   */
  public static boolean isEndOfStage(String reason) {
    if (reason.equals(CANCELLED) || reason.startsWith(TEAR_DOWN)) {
      return true;
    }
    String cause =
        reason.startsWith(CANCELLED + ": ") ? reason.substring(CANCELLED.length() + 2) : reason;
    return cause.startsWith("Job aborted due to stage failure")
        || (cause.startsWith("Task ") && cause.contains(" from barrier stage "));
  }
}
