package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Gather in memory that all ranks see: the root copies all inputs.
 *
 * <p>Steps: 2 (all publish, all are done). Bytes moved in memory by the root: all inputs, read and
 * written once.
 */
final class SharedGather implements Algorithm<Call.Gather> {

  /** Gathers in {@code outputs}, one for each rank; empty except at the root. */
  @Override
  public void run(Peers peers, Call.Gather call) {
    SharedRegion region = peers.memory().region();
    List<HostTensor> outputs = call.outputs();
    HostTensor input = call.input();
    int root = call.root();
    region.publish(List.of(input));
    if (region.rank() == root) {
      for (int peer = 0; peer < region.size(); peer++) {
        HostTensor output = outputs.get(peer);
        SharedCopy.copy(
            region, output, region.publishedBy(peer, 0, output.dtype(), output.count()));
      }
    }
    region.finish();
  }
}
