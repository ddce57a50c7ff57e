package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Broadcast in memory that all ranks see: each rank copies the root's tensor.
 *
 * <p>Steps: 2 (all publish, all are done), for ranks other than the root 1. Bytes moved in memory
 * by each rank but the root: the tensor, read and written once.
 */
final class SharedBroadcast implements Algorithm<Call.Broadcast> {

  /** Copies what the root publishes; the others' tensors may be where nobody sees them. */
  @Override
  public void run(Peers peers, Call.Broadcast call) {
    SharedRegion region = peers.memory().region();
    HostTensor tensor = call.tensor();
    int root = call.root();
    boolean atRoot = region.rank() == root;
    region.publish(atRoot ? List.of(tensor) : List.of());
    if (atRoot) {
      region.finish();
    } else {
      SharedCopy.copy(region, tensor, region.publishedBy(root, 0, tensor.dtype(), tensor.count()));
      region.leave();
    }
  }
}
