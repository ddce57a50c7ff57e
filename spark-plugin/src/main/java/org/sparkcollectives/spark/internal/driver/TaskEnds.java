package org.sparkcollectives.spark.internal.driver;

import java.util.Objects;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.Success$;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.TaskKilled;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.TaskInfo;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.spark.internal.protocol.KillReason;
import org.sparkcollectives.spi.failure.Causes;

/** Converts Spark's report of the end of a task to the failure of its rank. */
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
    Failure.Kind kind = kindIfNotJoined(end.reason());
    return kind == null ? null : failure(end, kind);
  }

  /** Returns the failure of a task that has not succeeded, whatever the reason. */
  static Failure anyFailure(SparkListenerTaskEnd end) {
    Failure.Kind kind = kind(end.reason());
    return failure(end, kind == null ? Failure.Kind.EXCEPTION : kind);
  }

  private static Failure failure(SparkListenerTaskEnd end, Failure.Kind kind) {
    TaskInfo task = end.taskInfo();
    RankLocation location =
        new RankLocation(task.partitionId(), task.host(), task.executorId(), task.taskId());
    return new Failure(kind, location, "", -1, cause(end.reason()));
  }

  /** Returns the kind of failure of a task, or null if it has succeeded. */
  static Failure.Kind kind(TaskEndReason reason) {
    if (reason instanceof ExecutorLostFailure) {
      return Failure.Kind.EXECUTOR_LOST;
    }
    if (reason instanceof TaskKilled killed) {
      return KillReason.isEndOfStage(killed.reason())
          ? Failure.Kind.STAGE_STOPPED
          : Failure.Kind.KILLED;
    }
    if (reason instanceof ExceptionFailure failed) {
      return kindOfThrown(failed.exception().getOrElse(() -> null));
    }
    return null;
  }

  /**
   * Returns what a rank has thrown that did not follow from the failure of another; null if it has
   * thrown nothing of its own, or what the driver cannot read.
   */
  static Throwable ownException(TaskEndReason reason) {
    Throwable thrown =
        reason instanceof ExceptionFailure failed ? failed.exception().getOrElse(() -> null) : null;
    return Causes.of(thrown).anyMatch(CollectiveException.class::isInstance) ? null : thrown;
  }

  /**
   * Returns the kind of failure of a rank that threw: the exception may be wrapped, and may follow
   * from the failure of another rank.
   */
  private static Failure.Kind kindOfThrown(Throwable thrown) {
    return Causes.of(thrown)
        .map(TaskEnds::kindByType)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(Failure.Kind.EXCEPTION);
  }

  private static Failure.Kind kindByType(Throwable thrown) {
    if (thrown instanceof PeerFailedException failed) {
      return failed.failure().kind();
    }
    return thrown instanceof CollectiveTimeoutException ? Failure.Kind.TIMEOUT : null;
  }

  /** Returns the same for a task that has not joined, or null if it says nothing of its rank. */
  private static Failure.Kind kindIfNotJoined(TaskEndReason reason) {
    if (reason.equals(Success$.MODULE$)) {
      return Failure.Kind.PEER_FINISHED;
    }
    Failure.Kind kind = kind(reason);
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
