package org.sparkcollectives.algorithm;

import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Hierarchy;
import org.sparkcollectives.transport.Peers;

/**
 * Hierarchical all-reduce: reduce-scatter inside each place, all-reduce of each slice across
 * places, all-gather inside. Sums travel as accumulators, and each element is rounded once.
 *
 * <p>Steps: those of an all-reduce of one slice across, and inside 3 waits for all (show, show,
 * done). Bytes sent across by each rank: those of an all-reduce of one slice, in the accumulator's
 * type. Bytes moved in memory by each rank: its slice, read from all tensors of the place, and the
 * other slices.
 */
final class HierarchicalAllReduce {

  private final AlgorithmSelector phases;
  private final Scratch scratch;

  HierarchicalAllReduce(AlgorithmSelector phases, Scratch scratch) {
    this.phases = phases;
    this.scratch = scratch;
  }

  void run(Hierarchy hierarchy, int ranks, HostTensor tensor, ReduceOp op) {
    ReduceKernel kernel = ReduceKernel.of(op, tensor.dtype());
    kernel.premultiply(tensor, 0, tensor.count());
    Chunks slices = Slices.inside(hierarchy, tensor, Hierarchy.NO_ROOT);
    HostTensor own = slices.at(hierarchy.inside().rank());
    HostTensor sum =
        kernel.reducesInPlace()
            ? own
            : scratch.piece(kernel.accumulatorType(), hierarchy.level(), own.count());
    phases.reduceScatter(hierarchy.opening(), sum, slices, new PartialReduction(kernel));
    if (Slices.isOwner(hierarchy, tensor, Hierarchy.NO_ROOT)) {
      Peers across = hierarchy.across(Hierarchy.NO_ROOT);
      phases.allReduce(across, sum, PartialReduction.ofAccumulators(op));
      kernel.finish(own, 0, sum, 0, own.count(), ranks);
    }
    phases.allGather(hierarchy.inside(), slices, own);
  }
}
