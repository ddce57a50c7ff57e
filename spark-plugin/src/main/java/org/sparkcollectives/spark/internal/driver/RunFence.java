package org.sparkcollectives.spark.internal.driver;

import java.util.HashMap;
import java.util.Map;
import org.sparkcollectives.spark.internal.protocol.RunRequest;

/**
 * Decides which task attempts may use the keys of a run: the latest incarnation of each replica,
 * until the run has ended. Not thread-safe.
 */
final class RunFence {

  /** By run, the latest incarnation of each replica. */
  private final Map<String, Map<Integer, RunRequest>> latest = new HashMap<>();

  /** Begins a run, which has no replicas yet. */
  void begin(String run) {
    latest.put(run, new HashMap<>());
  }

  /**
   * Admits an incarnation; those of the same replica before it are over from now on.
   *
   * @throws IllegalStateException if the run is over, or a later incarnation has begun
   */
  void enter(RunRequest request) {
    Map<Integer, RunRequest> replicas = latest.get(request.run());
    if (replicas == null) {
      throw new IllegalStateException(
          "Run " + request.run() + " is over; " + request + " comes too late");
    }
    RunRequest there = replicas.get(request.replica());
    if (there != null && there.incarnation() > request.incarnation()) {
      throw new IllegalStateException(over(request, there));
    }
    replicas.put(request.replica(), request);
  }

  /** Returns why an incarnation is over. */
  static String over(RunRequest earlier, RunRequest later) {
    return "The store refuses "
        + earlier
        + ": task "
        + later.incarnation()
        + " has begun in its place, so this one must end";
  }

  /** Ends a run. */
  void end(String run) {
    latest.remove(run);
  }
}
