package org.sparkcollectives.transport;

/**
 * Where a rank is and how it is reached, as it tells the other ranks through the store.
 *
 * @param rank the rank in the world group of its Spark stage or of its processes
 * @param nodeId names the JVM; never used again by another one
 * @param hostId names the machine as its operating system sees it; equal ids make shared memory
 *     worth a try
 * @param host the address that peers connect to
 * @param port the port that peers connect to
 * @param executorId the Spark executor, or a name for the process
 * @param processors how many processors the JVM may use
 * @param taskAttemptId the Spark task attempt, or -1
 */
public record Endpoint(
    int rank,
    String nodeId,
    String hostId,
    String host,
    int port,
    String executorId,
    int processors,
    long taskAttemptId) {

  /** Whether both are on one machine, as far as its operating system tells. */
  public boolean sharesHostWith(Endpoint other) {
    return nodeId.equals(other.nodeId) || (!hostId.isEmpty() && hostId.equals(other.hostId));
  }

  /** The rank and where it is, as messages have it. */
  public String describe() {
    return "rank " + rank + " (" + host + ", executor " + executorId + ")";
  }
}
