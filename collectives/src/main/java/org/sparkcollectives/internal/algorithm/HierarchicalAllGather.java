package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Hierarchical all-gather: all-gather between nodes, of each rank's part with those of its
 * cross-node group; then each rank copies inside what the others have received. In nodes with more
 * ranks than the smallest, leaders carry the parts of several ranks, one after the other. The parts
 * may differ in size.
 *
 * <p>Steps: those of an all-gather between nodes, for each part that a leader carries, and inside 2
 * waits for all (publish, done). Bytes sent between nodes by each rank: those of that all-gather.
 * Bytes moved in memory by each rank: the parts that it did not receive, read and written once.
 */
final class HierarchicalAllGather implements HierarchicalAlgorithm<Call.AllGather> {

  private final Phases phases;

  HierarchicalAllGather(Phases phases) {
    this.phases = phases;
  }

  @Override
  public double seconds(Situation s) {
    Locality locality = s.locality();
    int rounds = Rounds.count(locality);
    long carried = s.shape().bytes() / locality.smallest() / rounds;
    return rounds * s.interNode(phases.rows(OpType.ALL_GATHER), s.shape().withBytes(carried))
        + s.inHeap(2 + rounds - 1, s.shape().bytes() - carried);
  }

  @Override
  public void run(Peers peers, Call.AllGather call) {
    Hierarchy hierarchy = peers.hierarchy().orElseThrow();
    Chunks outputs = call.outputs();
    HostTensor input = call.input();
    Rounds rounds = Rounds.of(hierarchy);
    SharedRegion region = hierarchy.intraNode().memory().region();
    if (rounds.isShared()) {
      collect(region, rounds, outputs, input);
    }
    if (rounds.isLeader()) {
      exchange(hierarchy.interNode(Hierarchy.NO_ROOT), rounds, outputs, input);
    }
    region.publish(outputs.all());
    for (int distance = 1; distance < rounds.locality().size(); distance++) {
      int peer = (rounds.rank() + distance) % rounds.locality().size();
      int leader = rounds.leader(peer);
      if (leader != rounds.index()) {
        HostTensor output = outputs.at(peer);
        SharedCopy.copy(
            region, output, region.publishedBy(leader, peer, output.dtype(), output.count()));
      }
    }
    region.finish();
  }

  /** Takes the parts that this rank carries for others. */
  private static void collect(
      SharedRegion region, Rounds rounds, Chunks outputs, HostTensor input) {
    region.publish(List.of(input));
    for (int round = 1; rounds.isLeader() && round < rounds.count(); round++) {
      int peer = rounds.rank(rounds.node(), round);
      if (peer >= 0) {
        HostTensor output = outputs.at(peer);
        int index = rounds.locality().index(peer);
        SharedCopy.copy(
            region, output, region.publishedBy(index, 0, output.dtype(), output.count()));
      }
    }
    region.leave();
    if (!rounds.isLeader()) {
      HostTensor own = outputs.at(rounds.rank());
      own.copyFrom(0, input, 0, input.count());
    }
  }

  private void exchange(Peers interNode, Rounds rounds, Chunks outputs, HostTensor input) {
    HostTensor none = outputs.at(rounds.rank()).slice(0, 0);
    for (int round = 0; round < rounds.count(); round++) {
      HostTensor[] parts = new HostTensor[interNode.size()];
      for (int node = 0; node < parts.length; node++) {
        int peer = rounds.rank(node, round);
        parts[node] = peer < 0 ? none : outputs.at(peer);
      }
      HostTensor own = round == 0 ? input : parts[rounds.node()];
      phases.run(interNode, new Call.AllGather(Chunks.ofParts(parts), own));
    }
  }
}
