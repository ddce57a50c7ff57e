package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Hierarchical reduce: reduce-scatter inside each node, reduce of each slice between nodes to that
 * of the root, gather inside it. Tensors of other ranks are only read.
 *
 * <p>Steps: those of a reduce of one slice between nodes, and inside 2 waits for all, in the root's
 * node 3. Bytes sent between nodes by each rank: those of a reduce of one slice, in the
 * accumulator's type. Bytes moved in memory by each rank: its slice, read from all tensors of the
 * node; by the root the other slices, too. Scratch: one slice.
 */
final class HierarchicalReduce implements HierarchicalAlgorithm<Call.Reduce> {

  private final Phases phases;
  private final Scratch scratch;

  HierarchicalReduce(Phases phases, Scratch scratch) {
    this.phases = phases;
    this.scratch = scratch;
  }

  @Override
  public double seconds(Situation s) {
    Locality locality = s.locality();
    long bytes = s.shape().bytes();
    int slices = Slices.count(locality, bytes);
    long slice = bytes / slices;
    double share = (double) locality.size() / locality.nodes() / slices;
    double between =
        s.interNode(phases.rows(OpType.REDUCE), s.shape().ofAccumulators(slice), share);
    return s.sharesHeap()
        ? between + s.inHeap(3, (locality.largest() + Situation.SCRATCH) * slice + bytes - slice)
        : between
            + s.intraNode(phases.rows(OpType.REDUCE_SCATTER), s.shape(), slices)
            + (s.isOfRacks()
                ? s.intraRack(bytes)
                : s.intraNode(phases.rows(OpType.SCATTER), Shape.ofParts(bytes, false)));
  }

  @Override
  public void run(Peers peers, Call.Reduce call) {
    Hierarchy hierarchy = peers.hierarchy().orElseThrow();
    HostTensor tensor = call.tensor();
    int root = call.root();
    ReduceKernel kernel = call.kernel();
    HostTensor input = SharedReduce.contribution(tensor, peers.rank() == root, kernel);
    Locality locality = hierarchy.locality();
    boolean withRoot = hierarchy.node() == locality.node(root);
    Chunks slices = Slices.of(hierarchy, input, root);
    HostTensor own = slices.at(hierarchy.intraNode().rank());
    HostTensor sum = scratch.piece(kernel.accumulatorType(), 2 * hierarchy.level(), own.count());
    // Elsewhere no second phase waits until all have read what is published in the first.
    phases.run(
        withRoot ? hierarchy.opening() : hierarchy.intraNode(),
        new Call.ReduceScatter(sum, slices, new PartialReduction(kernel)));
    if (Slices.isOwner(hierarchy, tensor, root)) {
      phases.run(
          hierarchy.interNode(root),
          new Call.Reduce(sum, locality.node(root), PartialReduction.ofAccumulators(kernel)));
    }
    if (withRoot) {
      HostTensor result =
          kernel.reducesInPlace()
              ? sum
              : scratch.piece(tensor.dtype(), 2 * hierarchy.level() + 1, own.count());
      kernel.finish(result, 0, sum, 0, own.count(), peers.size());
      List<HostTensor> outputs =
          peers.rank() == root ? Slices.of(hierarchy, tensor, root).all() : List.of();
      phases.run(hierarchy.intraNode(), new Call.Gather(outputs, result, locality.index(root)));
    }
  }
}
