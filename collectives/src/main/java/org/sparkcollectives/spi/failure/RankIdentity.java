package org.sparkcollectives.spi.failure;

import java.util.List;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.RankLocation;

/**
 * Identifies a rank in failures, and makes the exceptions that its operations throw.
 *
 * @param group the group's name
 * @param rank the rank in the group
 * @param host the rank's address
 * @param executorId the rank's Spark executor, or a name for its process
 * @param taskAttemptId the rank's Spark task attempt, or -1
 */
public record RankIdentity(
    String group, int rank, String host, String executorId, long taskAttemptId) {

  /** Returns the rank and where it runs. */
  public RankLocation location() {
    return new RankLocation(rank, host, executorId, taskAttemptId);
  }

  /** Returns the record of a failure of this rank, with an exception as the cause. */
  public Failure failure(
      Failure.Kind kind, String operation, long sequenceNumber, Throwable cause) {
    List<CollectiveCall> calls =
        cause instanceof CollectiveMismatchException mismatch ? mismatch.calls() : List.of();
    return new Failure(
        kind, location(), operation, sequenceNumber, FailureCodec.describe(cause), calls);
  }

  /** Returns the record of a failure of this rank, with a text as the cause. */
  public Failure failure(Failure.Kind kind, String operation, long sequenceNumber, String cause) {
    return new Failure(kind, location(), operation, sequenceNumber, cause);
  }

  /** Returns the record to publish if this rank's process vanishes. */
  public Failure lost() {
    return failure(
        Failure.Kind.EXECUTOR_LOST,
        "",
        -1,
        "its process is gone, and with it the connection to the driver");
  }

  /** Returns the exception of an operation of this rank after a failure of this or another rank. */
  public CollectiveException exceptionAfter(String operation, Failure failure) {
    if (!failure.calls().isEmpty()) {
      return new CollectiveMismatchException(
          operation + " of " + where() + " failed: " + mismatch(failure), failure.calls());
    }
    return failure.rank() == rank
        ? new GroupAbortedException(
            operation + " of " + where() + " failed: " + failure.cause(), null)
        : new PeerFailedException(describe(operation, failure), failure);
  }

  /** Returns the sentence that a user reads first. */
  private String describe(String operation, Failure failure) {
    StringBuilder text = new StringBuilder();
    text.append(operation).append(" of ").append(where()).append(" failed, because ");
    text.append(failure.where()).append(' ').append(failure.kind().verb());
    if (!failure.operation().isEmpty()) {
      text.append(" in ").append(failure.operation());
    }
    return text.append(": ").append(beforeStack(failure)).toString();
  }

  private static String beforeStack(Failure failure) {
    int frames = failure.cause().indexOf("\n\tat ");
    return frames < 0 ? failure.cause() : failure.cause().substring(0, frames);
  }

  /** Returns what the rank that found a mismatch reports of it, without the exception's class. */
  private static String mismatch(Failure failure) {
    String thrown = beforeStack(failure);
    String type = CollectiveMismatchException.class.getName() + ": ";
    return thrown.startsWith(type) ? thrown.substring(type.length()) : thrown;
  }

  /** Returns where this rank runs, and in which group, as errors name it. */
  public String where() {
    return "group \"" + group + "\" on " + location().describe();
  }
}
