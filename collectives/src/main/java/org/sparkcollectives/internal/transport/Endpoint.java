package org.sparkcollectives.internal.transport;

/**
 * The place and address of a rank, as it publishes them to the other ranks through the store.
 *
 * @param rank the rank in the world group of its Spark stage or of its processes
 * @param nodeId names the JVM; never used again by another one
 * @param hostId names the machine, and where that has several, the PID namespace; equal ids make
 *     shared memory worth a try; empty if unknown
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

  /** Returns whether both are where JVMs can share memory, as far as the operating system tells. */
  public boolean sharesHostWith(Endpoint other) {
    return nodeId.equals(other.nodeId) || (!hostId.isEmpty() && hostId.equals(other.hostId));
  }

  /** Returns the rank and where it is, as messages have it. */
  public String describe() {
    return "rank " + rank + " (" + host + ", executor " + executorId + ")";
  }
}
