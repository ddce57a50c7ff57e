package org.sparkcollectives;

import java.io.Serializable;
import java.util.List;

/**
 * The reason why a group ended: which rank failed, where it ran, and what it was doing.
 *
 * @param kind what happened
 * @param location the group rank that failed, and where it ran
 * @param operation the operation during which it was noticed, or an empty string
 * @param sequenceNumber the operation's number in its group, or -1
 * @param cause what is known of the cause, with its stack trace where there is one
 * @param calls the two calls that do not match, where that is the cause: see {@link
 *     CollectiveMismatchException}; else empty
 */
public record Failure(
    Kind kind,
    RankLocation location,
    String operation,
    long sequenceNumber,
    String cause,
    List<CollectiveCall> calls)
    implements Serializable {

  /** Creates a record of a cause other than calls that do not match. */
  public Failure(
      Kind kind, RankLocation location, String operation, long sequenceNumber, String cause) {
    this(kind, location, operation, sequenceNumber, cause, List.of());
  }

  /**
   * The kinds of failure, the most telling first: of several records the one of the first kind
   * counts.
   */
  public enum Kind {
    /** The rank's own code threw, or called {@link ProcessGroup#abort}. */
    EXCEPTION("failed"),
    /** The rank's task was killed. */
    KILLED("was killed"),
    /** The rank's process is gone. */
    EXECUTOR_LOST("lost its executor"),
    /** The rank's process sends no heartbeat: it hangs, or is cut off. */
    UNRESPONSIVE("is unresponsive"),
    /** The rank closed the group, or its task ended, while others waited for it. */
    PEER_FINISHED("has finished"),
    /** The connection to the rank broke. */
    CONNECTION_RESET("lost its connection"),
    /** The rank did not join an operation in time. */
    TIMEOUT("did not arrive in time"),
    /** The rank's task was stopped with its stage, because some other rank had failed before. */
    STAGE_STOPPED("was stopped with its stage");

    private final String verb;

    Kind(String verb) {
      this.verb = verb;
    }

    /** Returns the verb of a sentence about the rank. */
    public String verb() {
      return verb;
    }
  }

  /**
   * Returns whether this record tells more about the first cause than {@code other}. A rank that
   * finishes while another is lost or late does so because of that, and a rank that has given up
   * waiting for a late one closes its connections to others.
   */
  public boolean outranks(Failure other) {
    boolean mayFollow =
        kind == Kind.PEER_FINISHED || (kind == Kind.CONNECTION_RESET && other.kind == Kind.TIMEOUT);
    return kind.compareTo(other.kind) < 0 && (!mayFollow || rank() == other.rank());
  }

  /** Returns the group rank that failed. */
  public int rank() {
    return location.rank();
  }

  /** Returns the rank's address. */
  public String host() {
    return location.host();
  }

  /** Returns the rank's Spark executor, or a name for its process. */
  public String executorId() {
    return location.executorId();
  }

  /** Returns the rank's Spark task attempt, or -1. */
  public long taskAttemptId() {
    return location.taskAttemptId();
  }

  /** Returns the rank and where it ran. */
  public String where() {
    return "rank "
        + rank()
        + " ("
        + host()
        + ", executor "
        + executorId()
        + (taskAttemptId() >= 0 ? ", task " + taskAttemptId() : "")
        + ")";
  }
}
