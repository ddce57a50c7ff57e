package org.sparkcollectives.algorithm;

import java.util.List;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Hierarchy;
import org.sparkcollectives.transport.Locality;
import org.sparkcollectives.transport.Peers;

/**
 * Hierarchical reduce: reduce-scatter inside each place, reduce of each slice across places to that
 * of the root, gather inside it. Tensors of other ranks are only read.
 *
 * <p>Steps: those of a reduce of one slice across, and inside 2 waits for all, in the root's place
 * 3. Bytes sent across by each rank: those of a reduce of one slice, in the accumulator's type.
 * Bytes moved in memory by each rank: its slice, read from all tensors of the place; by the root
 * the other slices, too. Scratch: one slice.
 */
final class HierarchicalReduce {

  private final AlgorithmSelector phases;
  private final Scratch scratch;

  HierarchicalReduce(AlgorithmSelector phases, Scratch scratch) {
    this.phases = phases;
    this.scratch = scratch;
  }

  /**
   * Reduces to the root's {@code tensor}.
   *
   * @param input this rank's contribution, multiplied: the tensor, or a copy
   */
  void run(
      Hierarchy hierarchy,
      Peers peers,
      HostTensor tensor,
      HostTensor input,
      int root,
      ReduceOp op) {
    ReduceKernel kernel = ReduceKernel.of(op, tensor.dtype());
    Locality locality = hierarchy.locality();
    boolean withRoot = hierarchy.place() == locality.place(root);
    Chunks slices = Slices.inside(hierarchy, input, root);
    HostTensor own = slices.at(hierarchy.inside().rank());
    HostTensor sum = scratch.piece(kernel.accumulatorType(), 2 * hierarchy.level(), own.count());
    // Elsewhere no second phase waits until all have read what is shown in the first.
    phases.reduceScatter(
        withRoot ? hierarchy.opening() : hierarchy.inside(),
        sum,
        slices,
        new PartialReduction(kernel));
    if (Slices.isOwner(hierarchy, tensor, root)) {
      phases.reduce(
          hierarchy.across(root), sum, PartialReduction.ofAccumulators(op), locality.place(root));
    }
    if (withRoot) {
      HostTensor result =
          kernel.reducesInPlace()
              ? sum
              : scratch.piece(tensor.dtype(), 2 * hierarchy.level() + 1, own.count());
      kernel.finish(result, 0, sum, 0, own.count(), peers.size());
      List<HostTensor> outputs =
          peers.rank() == root ? Slices.inside(hierarchy, tensor, root).all() : List.of();
      phases.gather(hierarchy.inside(), outputs, result, locality.index(root));
    }
  }
}
