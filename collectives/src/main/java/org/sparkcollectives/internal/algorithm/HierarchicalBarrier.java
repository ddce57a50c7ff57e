package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Peers;

/**
 * Hierarchical barrier: all of a node, then one rank of each node, then all of a node again.
 *
 * <p>Steps: those of a barrier between nodes, and inside 2 waits for all. Bytes sent between nodes:
 * one empty message a step, by one rank of each node.
 */
final class HierarchicalBarrier implements HierarchicalAlgorithm<Call.Barrier> {

  private final AlgorithmSelector phases;

  HierarchicalBarrier(AlgorithmSelector phases) {
    this.phases = phases;
  }

  @Override
  public double seconds(Situation s) {
    double inside =
        s.sharesHeap() ? s.inHeap(1, 0) : s.intraNode(phases.table().barrier, s.shape());
    return 2 * inside + s.interNode(phases.table().barrier, s.shape());
  }

  @Override
  public void run(Peers peers, Call.Barrier call) {
    Hierarchy hierarchy = peers.hierarchy().orElseThrow();
    phases.barrier(hierarchy.intraNode());
    if (hierarchy.ownCrossNodeGroup(Hierarchy.NO_ROOT) == 0) {
      phases.barrier(hierarchy.interNode(Hierarchy.NO_ROOT));
    }
    phases.barrier(hierarchy.intraNode());
  }
}
