package org.sparkcollectives;

import java.io.Serializable;

/**
 * A rank and where it runs.
 *
 * @param rank the rank, in its group or in the world
 * @param host the rank's address
 * @param executorId the rank's Spark executor, or a name for its process
 * @param taskAttemptId the rank's Spark task attempt, or -1
 */
public record RankLocation(int rank, String host, String executorId, long taskAttemptId)
    implements Serializable {

  /** Returns the rank and where it runs, as messages name it. */
  public String describe() {
    return "rank " + rank + " (" + host + ", executor " + executorId + ")";
  }
}
