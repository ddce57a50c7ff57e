package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Reduce-scatter in memory that all ranks see: each rank reads its part from all inputs.
 *
 * <p>Steps: 2 (all publish, all are done). Bytes moved in memory by each rank: its part, read from
 * n tensors and written to one.
 */
final class SharedReduceScatter implements Algorithm<Call.ReduceScatter> {

  /** Reduces parts; the {@code output} of a rank may be its own part of {@code input}. */
  @Override
  public void run(Peers peers, Call.ReduceScatter call) {
    SharedRegion region = peers.memory().region();
    ReduceKernel kernel = call.kernel();
    Chunks input = call.input().premultiplied(kernel);
    int rank = region.rank();
    int n = region.size();
    region.publish(input.all());
    HostTensor own = input.at(rank);
    List<HostTensor> others = new ArrayList<>(n - 1);
    for (int distance = 1; distance < n; distance++) {
      others.add(region.publishedBy((rank + distance) % n, rank, own.dtype(), own.count()));
    }
    new TileReduction(kernel).run(call.output(), own, others, (offset, count) -> region.check());
    region.finish();
  }
}
