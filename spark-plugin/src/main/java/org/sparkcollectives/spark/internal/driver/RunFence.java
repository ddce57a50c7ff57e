package org.sparkcollectives.spark.internal.driver;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.spark.internal.protocol.RunRequest;

/**
 * Decides which task attempts may use the keys of a run: the latest incarnation of each replica,
 * with all its ranks, until the run has ended. Not thread-safe.
 */
final class RunFence {

  /** By run and replica, the ranks of the latest incarnation. */
  private final Map<String, Map<Integer, List<RunRequest>>> latest = new HashMap<>();

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
    Map<Integer, List<RunRequest>> replicas = latest.get(request.run());
    if (replicas == null) {
      throw new IllegalStateException(
          "Run " + request.run() + " is over; " + request + " comes too late");
    }
    List<RunRequest> ranks =
        replicas.computeIfAbsent(request.replica(), unused -> new ArrayList<>());
    for (RunRequest there : ranks) {
      if (request.precedes(there)) {
        throw new IllegalStateException(over(request, there));
      }
    }
    ranks.removeIf(there -> there.precedes(request));
    ranks.add(request);
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
