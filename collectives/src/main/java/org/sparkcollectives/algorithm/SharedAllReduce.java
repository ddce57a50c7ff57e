package org.sparkcollectives.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.SharedRegion;

/**
 * All-reduce in memory that all ranks see: the owner of a part reads it from all tensors and writes
 * the result to all, in one pass.
 *
 * <p>Steps: 2 (all show, all are done). Bytes moved in memory by each rank: its part, 1/n of the
 * tensor, read from n tensors and written to n.
 */
final class SharedAllReduce {

  void run(SharedRegion region, HostTensor tensor, ReduceKernel kernel) {
    kernel.premultiply(tensor, 0, tensor.count());
    region.show(List.of(tensor));
    int rank = region.rank();
    int n = region.size();
    HostTensor own = Chunks.part(tensor, rank, n);
    List<HostTensor> others = new ArrayList<>(n - 1);
    for (int distance = 1; distance < n; distance++) {
      HostTensor theirs = region.shownBy((rank + distance) % n, 0, tensor.dtype(), tensor.count());
      others.add(Chunks.part(theirs, rank, n));
    }
    new TileReduction(kernel)
        .run(
            own,
            own,
            others,
            (offset, count) -> {
              for (HostTensor other : others) {
                other.copyFrom(offset, own, offset, count);
              }
              region.check();
            });
    region.finish();
  }
}
