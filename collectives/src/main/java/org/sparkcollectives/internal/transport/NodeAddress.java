package org.sparkcollectives.internal.transport;

/**
 * The place and address of a JVM, which all its ranks have in common.
 *
 * @param id names the JVM; never used again by another one
 * @param hostId names the machine, and where that has several, the PID namespace; equal ids make
 *     shared memory worth a try; empty if unknown
 * @param host the address that peers connect to
 * @param port the port that peers connect to
 * @param executorId the Spark executor, or a name for the process
 * @param processors how many processors the JVM may use
 */
public record NodeAddress(
    String id, String hostId, String host, int port, String executorId, int processors) {

  /** Returns whether both are where JVMs can share memory, as far as the operating system tells. */
  public boolean sharesHostWith(NodeAddress other) {
    return id.equals(other.id) || (!hostId.isEmpty() && hostId.equals(other.hostId));
  }
}
