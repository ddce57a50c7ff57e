package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Binomial tree reduce: each rank adds up its subtree and sends the sum to its parent. Ranks other
 * than the root only read their tensor. For reductions in place.
 *
 * <p>Steps: floor(log2 n). Bytes sent by each rank but the root: the tensor. Scratch: one tensor on
 * ranks that have children.
 */
final class BinomialReduce implements MessageAlgorithm<Call.Reduce> {

  @Override
  public Cost cost(int ranks, long bytes) {
    int children = Integer.SIZE - Integer.numberOfLeadingZeros(ranks - 1);
    int levels = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(ranks);
    // The root receives a tensor from each child, which takes as long as to send it.
    return new Cost(levels, children, children * bytes);
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    return Crossing.ofTree(racks, cost(racks.ranks(), shape), shape.bytes());
  }

  @Override
  public void run(Peers peers, Call.Reduce call) {
    HostTensor tensor = call.tensor();
    int root = call.root();
    ReduceKernel kernel = call.kernel();
    BinomialTree tree = BinomialTree.of(peers.rank(), peers.size(), root);
    boolean atRoot = tree.parent() < 0;
    HostTensor sum = atRoot ? tensor : scratch(tensor);
    kernel.premultiply(sum, 0, sum.count());
    // The smallest subtree is done first.
    for (int i = tree.children().size() - 1; i >= 0; i--) {
      peers.pair(tree.children().get(i)).receiveAndReduce(sum, kernel);
    }
    if (atRoot) {
      kernel.finish(sum, 0, sum, 0, sum.count(), peers.size());
    } else {
      peers.pair(tree.parent()).send(sum);
    }
    peers.flush();
  }

  private static HostTensor scratch(HostTensor tensor) {
    HostTensor copy = HostTensor.allocate(tensor.dtype(), tensor.count());
    copy.copyFrom(0, tensor, 0, tensor.count());
    return copy;
  }
}
