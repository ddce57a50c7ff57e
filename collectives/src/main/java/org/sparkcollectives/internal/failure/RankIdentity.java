package org.sparkcollectives.internal.failure;

import java.util.List;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.Failure;

/**
 * Who this rank is, in the words of failures.
 *
 * @param group the group's name
 * @param rank the rank in the group
 * @param host the rank's address
 * @param executorId the rank's Spark executor, or a name for its process
 * @param taskAttemptId the rank's Spark task attempt, or -1
 */
public record RankIdentity(
    String group, int rank, String host, String executorId, long taskAttemptId) {

  /** A failure of this rank. */
  public Failure failure(
      Failure.Kind kind, String operation, long sequenceNumber, Throwable cause) {
    List<CollectiveCall> calls =
        cause instanceof CollectiveMismatchException mismatch ? mismatch.calls() : List.of();
    return new Failure(
        kind,
        rank,
        host,
        executorId,
        taskAttemptId,
        operation,
        sequenceNumber,
        FailureCodec.describe(cause),
        calls);
  }

  /** A failure of this rank. */
  public Failure failure(Failure.Kind kind, String operation, long sequenceNumber, String cause) {
    return new Failure(
        kind, rank, host, executorId, taskAttemptId, operation, sequenceNumber, cause);
  }

  /** Returns what is said of this rank if its process vanishes. */
  public Failure lost() {
    return failure(
        Failure.Kind.EXECUTOR_LOST,
        "",
        -1,
        "its process is gone, and with it the connection to the driver");
  }

  /** Where something happened on this rank. */
  public String where() {
    return "group \""
        + group
        + "\" on rank "
        + rank
        + " ("
        + host
        + ", executor "
        + executorId
        + ")";
  }
}
