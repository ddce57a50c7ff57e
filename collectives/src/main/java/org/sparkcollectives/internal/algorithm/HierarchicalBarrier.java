package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Peers;

/**
 * Hierarchical barrier: all of a node, then one rank of each node, then all of a node again.
 *
 * <p>Steps: those of a barrier between nodes, and inside 2 waits for all. Bytes sent between nodes:
 * one empty message a step, by one rank of each node.
 */
final class HierarchicalBarrier implements HierarchicalAlgorithm<Call.Barrier> {

  private final Phases phases;

  HierarchicalBarrier(Phases phases) {
    this.phases = phases;
  }

  @Override
  public double seconds(Situation s) {
    double inside =
        s.sharesHeap() ? s.inHeap(1, 0) : s.intraNode(phases.rows(OpType.BARRIER), s.shape());
    return 2 * inside + s.interNode(phases.rows(OpType.BARRIER), s.shape());
  }

  @Override
  public void run(Peers peers, Call.Barrier call) {
    Hierarchy hierarchy = peers.hierarchy().orElseThrow();
    phases.run(hierarchy.intraNode(), new Call.Barrier());
    if (hierarchy.ownCrossNodeGroup(Hierarchy.NO_ROOT) == 0) {
      phases.run(hierarchy.interNode(Hierarchy.NO_ROOT), new Call.Barrier());
    }
    phases.run(hierarchy.intraNode(), new Call.Barrier());
  }
}
