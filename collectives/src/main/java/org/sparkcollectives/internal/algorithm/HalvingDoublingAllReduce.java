package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Halving-doubling all-reduce (Rabenseifner, 2004): in each step two ranks exchange halves of what
 * they are still responsible for, and add up the half that they keep; then the parts are collected
 * on the same way back. Ranks beyond a power of two hand their tensor to another first.
 *
 * <p>Steps: 2 log2 n, and 2 where n is no power of two. Bytes sent by each rank: 2(p-1)/p of the
 * tensor for p ranks, and the tensor where n is no power of two. For reductions in place.
 */
final class HalvingDoublingAllReduce implements MessageAlgorithm<Call.AllReduce> {

  @Override
  public Cost cost(int ranks, long bytes) {
    PowerOfTwo core = PowerOfTwo.within(ranks);
    int folding = core.isAll() ? 0 : 1;
    long exchanged = 2 * bytes * (core.size() - 1) / core.size();
    return new Cost(
        2L * core.steps() + 2L * folding, 2L * core.steps() + folding, exchanged + folding * bytes);
  }

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    HostTensor tensor = call.tensor();
    ReduceKernel kernel = call.kernel();
    kernel.premultiply(tensor, 0, tensor.count());
    PowerOfTwo core = PowerOfTwo.within(peers.size());
    core.fold(peers, tensor, kernel);
    if (core.contains(peers.rank())) {
      exchange(peers, tensor, kernel, core.size());
    }
    core.unfold(peers, tensor);
  }

  private static void exchange(Peers peers, HostTensor tensor, ReduceKernel kernel, int p) {
    int rank = peers.rank();
    Chunks chunks = Chunks.of(tensor, p);
    int first = 0;
    for (int half = p / 2; half >= 1; half /= 2) {
      boolean upper = (rank & half) != 0;
      int kept = upper ? first + half : first;
      int given = upper ? first : first + half;
      peers.pair(rank ^ half).send(chunks.range(given, half));
      peers.pair(rank ^ half).receiveAndReduce(chunks.range(kept, half), kernel);
      first = kept;
    }
    HostTensor own = chunks.at(rank);
    kernel.finish(own, 0, own, 0, own.count(), peers.size());
    for (int half = 1; half < p; half *= 2) {
      int partnersFirst = first ^ half;
      // What was given away before may still be on its way out of the memory that comes back.
      peers.flush();
      peers.pair(rank ^ half).send(chunks.range(first, half));
      peers.pair(rank ^ half).receive(chunks.range(partnersFirst, half));
      first = Math.min(first, partnersFirst);
    }
    peers.flush();
  }
}
