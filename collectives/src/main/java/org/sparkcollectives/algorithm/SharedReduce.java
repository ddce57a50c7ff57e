package org.sparkcollectives.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.SharedRegion;

/**
 * Reduce in memory that all ranks see: the owner of a part reads it from all tensors and writes the
 * result to the root's. Tensors of other ranks are only read.
 *
 * <p>Steps: 2 (all show, all are done). Bytes moved in memory by each rank: its part, 1/n of the
 * tensor, read from n tensors and written to one.
 */
final class SharedReduce {

  /**
   * Reduces into the root's tensor.
   *
   * @param multiplies whether the kernel multiplies inputs, for which ranks other than the root
   *     need a copy
   */
  void run(
      SharedRegion region, HostTensor tensor, int root, ReduceKernel kernel, boolean multiplies) {
    int rank = region.rank();
    int n = region.size();
    HostTensor input = tensor;
    if (multiplies && rank != root) {
      input = HostTensor.allocate(tensor.dtype(), tensor.count());
      input.copyFrom(0, tensor, 0, tensor.count());
    }
    kernel.premultiply(input, 0, input.count());
    region.show(List.of(input));
    List<HostTensor> others = new ArrayList<>(n - 1);
    for (int distance = 1; distance < n; distance++) {
      others.add(part(region, (root + distance) % n, tensor));
    }
    HostTensor result = part(region, root, tensor);
    new TileReduction(kernel).run(result, result, others, (offset, count) -> region.check());
    region.finish();
  }

  private static HostTensor part(SharedRegion region, int peer, HostTensor like) {
    HostTensor theirs = region.shownBy(peer, 0, like.dtype(), like.count());
    return Chunks.part(theirs, region.rank(), region.size());
  }
}
