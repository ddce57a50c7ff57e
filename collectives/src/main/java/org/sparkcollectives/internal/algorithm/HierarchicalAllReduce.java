package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Hierarchical all-reduce: reduce-scatter inside each node, all-reduce of each slice between nodes,
 * all-gather inside. Sums of some of the ranks travel as accumulators, results in the tensor's
 * type, so each element is rounded once.
 *
 * <p>Steps: those of an all-reduce of one slice between nodes, and inside 3 waits for all (publish,
 * publish, done). Bytes sent between nodes by each rank: those of an all-reduce of one slice, whose
 * contributions are accumulators. Bytes moved in memory by each rank: its slice, read from all
 * tensors of the node, and the other slices.
 */
final class HierarchicalAllReduce implements HierarchicalAlgorithm<Call.AllReduce> {

  private final Phases phases;
  private final Scratch scratch;

  HierarchicalAllReduce(Phases phases, Scratch scratch) {
    this.phases = phases;
    this.scratch = scratch;
  }

  @Override
  public double seconds(Situation s) {
    Locality locality = s.locality();
    long bytes = s.shape().bytes();
    int slices = Slices.count(locality, bytes);
    long slice = bytes / slices;
    double share = (double) locality.smallest() / slices;
    double between =
        s.interNode(phases.rows(OpType.ALL_REDUCE), s.shape().ofAccumulators(slice), share);
    return s.sharesHeap()
        ? between + s.inHeap(3, locality.largest() * slice + bytes - slice)
        : between
            + s.intraNode(phases.rows(OpType.REDUCE_SCATTER), s.shape(), slices)
            + s.intraNode(
                phases.rows(OpType.ALL_GATHER), Shape.ofParts(s.shape().results(), false), slices);
  }

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    Hierarchy hierarchy = peers.hierarchy().orElseThrow();
    HostTensor contribution = call.contribution();
    ReduceKernel kernel = call.kernel();
    kernel.premultiply(contribution, 0, contribution.count());
    int index = hierarchy.intraNode().rank();
    int count = Slices.count(hierarchy.locality(), contribution.byteSize());
    Chunks slices = Slices.of(hierarchy, contribution, Hierarchy.NO_ROOT, count);
    Chunks results =
        call.isInPlace() ? slices : Slices.of(hierarchy, call.tensor(), Hierarchy.NO_ROOT, count);
    HostTensor own = slices.at(index);
    HostTensor result = results.at(index);
    HostTensor sum =
        kernel.reducesInPlace()
            ? own
            : scratch.piece(kernel.accumulatorType(), hierarchy.level(), own.count());
    phases.run(
        hierarchy.opening(), new Call.ReduceScatter(sum, slices, new PartialReduction(kernel)));
    if (Slices.isOwner(hierarchy, contribution, Hierarchy.NO_ROOT)) {
      phases.run(
          hierarchy.interNode(Hierarchy.NO_ROOT),
          new Call.AllReduce(result, sum, new FinalReduction(kernel, peers.size())));
    }
    phases.run(hierarchy.intraNode(), new Call.AllGather(results, result));
  }
}
