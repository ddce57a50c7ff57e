package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * All-to-all in memory that all ranks see: each rank copies its part from all inputs. The parts may
 * differ in size.
 *
 * <p>Steps: 2 (all publish, all are done). Bytes moved in memory by each rank: its output, read and
 * written once.
 */
final class SharedAllToAll implements Algorithm<Call.AllToAll> {

  @Override
  public void run(Peers peers, Call.AllToAll call) {
    SharedRegion region = peers.memory().region();
    Chunks outputs = call.outputs();
    Chunks inputs = call.inputs();
    int rank = region.rank();
    int n = region.size();
    region.publish(inputs.all());
    // Each begins with its own, so that not all read from the same one at the same time.
    for (int distance = 0; distance < n; distance++) {
      int peer = (rank + distance) % n;
      HostTensor output = outputs.at(peer);
      SharedCopy.copy(
          region, output, region.publishedBy(peer, rank, output.dtype(), output.count()));
    }
    region.finish();
  }
}
