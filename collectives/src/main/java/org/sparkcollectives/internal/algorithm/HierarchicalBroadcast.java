package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Hierarchical broadcast: scatter of the slices inside the root's node, broadcast of each slice
 * between nodes, all-gather inside the others; the root's node takes the tensor from the root,
 * unless it is a rack, which gathers, too. Of a tensor in one slice only the root sends to other
 * nodes.
 *
 * <p>Steps: those of a broadcast of one slice between nodes, and inside 2 waits for all (publish,
 * done), in the root's node 3 where there are several slices. Bytes sent between nodes by each
 * rank: those of a broadcast of one slice. Bytes moved in memory by each rank but the root: the
 * tensor, read and written once.
 */
final class HierarchicalBroadcast implements HierarchicalAlgorithm<Call.Broadcast> {

  private final Phases phases;

  HierarchicalBroadcast(Phases phases) {
    this.phases = phases;
  }

  @Override
  public double seconds(Situation s) {
    Locality locality = s.locality();
    long bytes = s.shape().bytes();
    int slices = Slices.count(locality, bytes);
    long slice = bytes / slices;
    double share = (double) locality.size() / locality.nodes() / slices;
    double between = s.interNode(phases.rows(OpType.BROADCAST), s.shape().withBytes(slice), share);
    if (s.sharesHeap()) {
      return between + (slices == 1 ? s.inHeap(2, bytes) : s.inHeap(3, slice + bytes));
    }
    if (s.isOfRacks()) {
      return slices == 1
          ? between + s.intraNode(phases.rows(OpType.BROADCAST), s.shape())
          : between
              + s.intraRack(bytes)
              + s.intraNode(phases.rows(OpType.ALL_GATHER), s.shape(), slices);
    }
    return between
        + s.intraNode(phases.rows(OpType.SCATTER), Shape.ofParts(slices == 1 ? 0 : bytes, false))
        + s.intraNode(phases.rows(OpType.BROADCAST), s.shape());
  }

  @Override
  public void run(Peers peers, Call.Broadcast call) {
    Hierarchy hierarchy = peers.hierarchy().orElseThrow();
    HostTensor tensor = call.tensor();
    int root = call.root();
    int rank = peers.rank();
    Locality locality = hierarchy.locality();
    boolean withRoot = locality.node(rank) == locality.node(root);
    Peers intraNode = hierarchy.intraNode();
    Chunks slices = Slices.of(hierarchy, tensor, root);
    HostTensor own = slices.at(intraNode.rank());
    boolean whole = Slices.count(locality, tensor.byteSize()) == 1;
    if (withRoot && !whole) {
      List<HostTensor> given = rank == root ? slices.all() : List.of();
      phases.run(hierarchy.opening(), new Call.Scatter(own, given, locality.index(root)));
    }
    if (Slices.isOwner(hierarchy, tensor, root)) {
      phases.run(hierarchy.interNode(root), new Call.Broadcast(own, locality.node(root)));
    }
    // In the heap, or in a host, each takes all from the root; in a rack that would take it longer.
    if (withRoot && (whole || !hierarchy.isOfRacks())) {
      phases.run(intraNode, new Call.Broadcast(tensor, locality.index(root)));
    } else if (whole) {
      phases.run(intraNode, new Call.Broadcast(tensor, 0));
    } else {
      phases.run(intraNode, new Call.AllGather(slices, own));
    }
  }
}
