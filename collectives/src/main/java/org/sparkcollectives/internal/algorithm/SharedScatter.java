package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Scatter in memory that all ranks see: each rank copies its part from the root.
 *
 * <p>Steps: 2 (all publish, all are done), for ranks other than the root 1. Bytes moved in memory
 * by each rank: its part, read and written once.
 */
final class SharedScatter implements Algorithm<Call.Scatter> {

  /** Scatters {@code inputs}, one for each rank; empty except at the root. */
  @Override
  public void run(Peers peers, Call.Scatter call) {
    SharedRegion region = peers.memory().region();
    HostTensor output = call.output();
    List<HostTensor> inputs = call.inputs();
    int root = call.root();
    int rank = region.rank();
    region.publish(inputs);
    SharedCopy.copy(region, output, region.publishedBy(root, rank, output.dtype(), output.count()));
    if (rank == root) {
      region.finish();
    } else {
      region.leave();
    }
  }
}
