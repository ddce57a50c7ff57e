package org.sparkcollectives.internal.transport;

/**
 * The place and address of a JVM, which all its ranks have in common.
 *
 * @param id names the JVM; never used again by another one
 * @param place where it runs
 * @param host the address that peers connect to
 * @param port the port that peers connect to
 * @param executorId the Spark executor, or a name for the process
 */
public record NodeAddress(String id, Place place, String host, int port, String executorId) {

  /** Returns whether both are where JVMs can share memory, as far as the operating system tells. */
  public boolean sharesHostWith(NodeAddress other) {
    return id.equals(other.id) || (!place.id().isEmpty() && place.id().equals(other.place.id()));
  }

  /** Returns whether both have memory that the other can map, as far as is known. */
  public boolean sharesMemoryWith(NodeAddress other) {
    return sharesHostWith(other) && place.hasSharedMemory() && other.place.hasSharedMemory();
  }
}
