package org.sparkcollectives.spark.internal.driver;

import org.apache.spark.ExceptionFailure;
import org.apache.spark.Success$;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.TaskKilled;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.TaskInfo;
import org.sparkcollectives.Failure;
import org.sparkcollectives.RankLocation;

/** Converts Spark's report of the end of a task to the failure of a rank that others wait for. */
final class TaskEnds {

  /** Deep recursion makes stack traces of megabytes. */
  private static final int MAX_CAUSE_CHARACTERS = 64 * 1024;

  private TaskEnds() {}

  /**
   * Returns why the task's rank will not join, if it has not joined before. Returns null if it
   * ended because of another rank: that says nothing of this one, and the others find out what it
   * did.
   */
  static Failure failure(SparkListenerTaskEnd end) {
    TaskInfo task = end.taskInfo();
    Failure.Kind kind = kind(end.reason());
    return kind == null
        ? null
        : new Failure(
            kind,
            new RankLocation(task.partitionId(), task.host(), task.executorId(), task.taskId()),
            "",
            -1,
            cause(end.reason()));
  }

  private static Failure.Kind kind(TaskEndReason reason) {
    if (reason.equals(Success$.MODULE$)) {
      return Failure.Kind.PEER_FINISHED;
    }
    Failure.Kind kind = JobFailures.kind(reason);
    if (kind == null) {
      return Failure.Kind.EXCEPTION;
    }
    return reason instanceof ExceptionFailure && kind != Failure.Kind.EXCEPTION ? null : kind;
  }

  private static String cause(TaskEndReason reason) {
    if (reason.equals(Success$.MODULE$)) {
      return "its task returned without joining the group. Every task of a barrier stage must join:"
          + " with SparkCollectives.world(), or with init_process_group in Python";
    }
    if (reason instanceof TaskKilled killed) {
      return "its task was killed: " + killed.reason();
    }
    String text =
        reason instanceof TaskFailedReason failed ? failed.toErrorString() : reason.toString();
    return text.length() <= MAX_CAUSE_CHARACTERS ? text : text.substring(0, MAX_CAUSE_CHARACTERS);
  }
}
