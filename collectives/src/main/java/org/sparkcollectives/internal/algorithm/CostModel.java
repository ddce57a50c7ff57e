package org.sparkcollectives.internal.algorithm;

import java.time.Duration;

/**
 * Predicts how long algorithms take, from three figures of the path between ranks, as Hockney's
 * model does: a latency for each step, an overhead for each message, and a time for each byte. It
 * need only be good enough to rank algorithms.
 *
 * <p>All ranks of a group must have the same, because each chooses for itself.
 *
 * @param latency the time in seconds from the start of a small send to the end of its receive
 * @param overhead the time in seconds for which a rank is busy with a message, whatever its size
 * @param bandwidth bytes a second that a rank sends while it also receives as many
 * @param largestMesh the most ranks of which each may be connected to each
 */
public record CostModel(double latency, double overhead, double bandwidth, int largestMesh) {

  /** The part of the time for a byte that each further stream at the same time adds to it. */
  private static final double CONTENTION = 0.25;

  /** Returns the model of configured figures. */
  public static CostModel of(
      Duration latency, Duration overhead, long bytesPerSecond, int largestMesh) {
    return new CostModel(
        latency.toNanos() / 1e9, overhead.toNanos() / 1e9, bytesPerSecond, largestMesh);
  }

  /** Predicts the time in seconds. */
  double seconds(Cost cost) {
    return cost.steps() * latency
        + cost.messages() * overhead
        + (double) cost.bytes() / bandwidth * (1 + CONTENTION * (cost.streams() - 1))
        + cost.fill() / bandwidth;
  }

  /** Returns whether so many ranks may all be connected to each other. */
  boolean allowsMesh(int ranks) {
    return ranks <= largestMesh;
  }
}
