package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Van de Geijn's broadcast (Barnett et al., 1994): the root scatters the tensor down a binomial
 * tree, and the ranks gather the parts from each other as in Bruck's all-gather, but in place.
 *
 * <p>Steps: 2 ceil(log2 n). Bytes sent by the root: 2(n-1)/n of the tensor; by others less.
 */
final class ScatterBroadcast implements MessageAlgorithm<Call.Broadcast> {

  @Override
  public Cost cost(int ranks, long bytes) {
    int steps = Integer.SIZE - Integer.numberOfLeadingZeros(ranks - 1);
    return new Cost(2L * steps, 2L * steps, 2 * bytes * (ranks - 1) / ranks);
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    int n = racks.ranks();
    Crossing gathered =
        Crossing.ofDealt(
            racks, n, distance -> shape.bytes() * Math.min(distance, n - distance) / n);
    // Of ranks that are dealt to the racks all of the root's send to others, first their parts.
    int senders = racks.areDealt() ? racks.perRack() : 1;
    long scattered = 2 * racks.delay(senders, shape.bytes() / senders);
    return new Crossing(cost(n, shape).steps(), scattered + gathered.delay());
  }

  @Override
  public boolean sendsMoreFarther() {
    return true;
  }

  @Override
  public void run(Peers peers, Call.Broadcast call) {
    scatter(peers, call);
    gather(peers, call);
    peers.flush();
  }

  /** Brings each rank its part, by way of ranks that have those of all ranks below them. */
  private static void scatter(Peers peers, Call.Broadcast call) {
    int n = peers.size();
    int fromRoot = Math.floorMod(peers.rank() - call.root(), n);
    BinomialTree tree = BinomialTree.of(peers.rank(), n, call.root());
    if (tree.parent() >= 0) {
      int below = Math.min(Integer.lowestOneBit(fromRoot), n - fromRoot);
      peers.pair(tree.parent()).receive(Chunks.parts(call.tensor(), fromRoot, below, n));
    }
    for (int child : tree.children()) {
      int first = Math.floorMod(child - call.root(), n);
      int below = Math.min(Integer.lowestOneBit(first), n - first);
      peers.pair(child).send(Chunks.parts(call.tensor(), first, below, n));
    }
  }

  /** Gathers all parts: what a rank has, which begins with its own part, doubles in each step. */
  private static void gather(Peers peers, Call.Broadcast call) {
    int n = peers.size();
    int rank = peers.rank();
    int fromRoot = Math.floorMod(rank - call.root(), n);
    for (int have = 1; have < n; have *= 2) {
      int more = Math.min(have, n - have);
      Pair to = peers.pair(Math.floorMod(rank - have, n));
      Pair from = peers.pair((rank + have) % n);
      int next = (fromRoot + have) % n;
      // Parts beyond the last begin again with the first, in a message of their own. Sends and
      // receives alternate, as a second send waits for the first and receives nothing meanwhile.
      to.send(before(call.tensor(), fromRoot, more, n));
      from.receive(before(call.tensor(), next, more, n));
      if (fromRoot + more > n) {
        to.send(Chunks.parts(call.tensor(), 0, fromRoot + more - n, n));
      }
      if (next + more > n) {
        from.receive(Chunks.parts(call.tensor(), 0, next + more - n, n));
      }
    }
  }

  /** Returns those of so many parts that come before the end. */
  private static HostTensor before(HostTensor tensor, int first, int count, int n) {
    return Chunks.parts(tensor, first, Math.min(count, n - first), n);
  }
}
