package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * All-reduce of little in memory that all ranks see: each rank publishes a copy, and reduces the
 * copies of all in the order of the ranks, so that nobody waits until the others are done.
 *
 * <p>Steps: 1 (all publish). Bytes moved in memory by each rank: n tensors read, 2 written.
 * Scratch: 2 tensors.
 */
final class CopiedAllReduce implements Algorithm<Call.AllReduce> {

  /** The most bytes that a rank reads of all copies together; above it another step is cheaper. */
  static final long MOST_BYTES_OF_ALL = 16 << 10;

  private final Scratch scratch = new Scratch();

  // When all publish one operation, nobody reads what was published in the one before: two are
  // enough.
  private int copyOfThisOperation;

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    SharedRegion region = peers.memory().region();
    HostTensor tensor = call.tensor();
    ReduceKernel kernel = call.kernel();
    kernel.premultiply(tensor, 0, tensor.count());
    copyOfThisOperation ^= 1;
    region.publish(List.of(scratch.copy(copyOfThisOperation, tensor)));
    List<HostTensor> copies = new ArrayList<>(region.size());
    for (int rank = 0; rank < region.size(); rank++) {
      copies.add(region.publishedBy(rank, 0, tensor.dtype(), tensor.count()));
    }
    new TileReduction(kernel)
        .run(tensor, copies.get(0), copies.subList(1, copies.size()), (offset, count) -> {});
    region.leave();
  }
}
