package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * All-gather in memory that all ranks see: each rank copies all inputs.
 *
 * <p>Steps: 2 (all publish, all are done). Bytes moved in memory by each rank: all inputs, read and
 * written once.
 */
final class SharedAllGather implements Algorithm<Call.AllGather> {

  @Override
  public void run(Peers peers, Call.AllGather call) {
    SharedRegion region = peers.memory().region();
    Chunks outputs = call.outputs();
    HostTensor input = call.input();
    region.publish(List.of(input));
    int rank = region.rank();
    int n = region.size();
    // Each begins with its own, so that not all read the same one at the same time.
    for (int distance = 0; distance < n; distance++) {
      int peer = (rank + distance) % n;
      HostTensor output = outputs.at(peer);
      SharedCopy.copy(region, output, region.publishedBy(peer, 0, output.dtype(), output.count()));
    }
    region.finish();
  }
}
