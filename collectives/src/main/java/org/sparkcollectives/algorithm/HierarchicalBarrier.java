package org.sparkcollectives.algorithm;

import org.sparkcollectives.transport.Hierarchy;

/**
 * Hierarchical barrier: all of a place, then one of each place, then all of a place again.
 *
 * <p>Steps: those of a barrier across, and inside 2 waits for all. Bytes sent across: one empty
 * message a step, by one rank of each place.
 */
final class HierarchicalBarrier {

  private final AlgorithmSelector phases;

  HierarchicalBarrier(AlgorithmSelector phases) {
    this.phases = phases;
  }

  void run(Hierarchy hierarchy) {
    phases.barrier(hierarchy.inside());
    if (hierarchy.ownColumn(Hierarchy.NO_ROOT) == 0) {
      phases.barrier(hierarchy.across(Hierarchy.NO_ROOT));
    }
    phases.barrier(hierarchy.inside());
  }
}
