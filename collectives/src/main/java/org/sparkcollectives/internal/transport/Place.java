package org.sparkcollectives.internal.transport;

/**
 * The place that a JVM runs in, and what it has there.
 *
 * @param id names the machine, and where that has several, the PID namespace; empty if unknown
 * @param processors how many processors the JVM may use
 * @param hasSharedMemory whether the JVM could make memory that others can map, when its rank
 *     joined
 * @param rack names the machine's rack; empty if unknown
 */
public record Place(String id, int processors, boolean hasSharedMemory, String rack) {

  /** Creates a place in an unknown rack. */
  public Place(String id, int processors, boolean hasSharedMemory) {
    this(id, processors, hasSharedMemory, "");
  }
}
