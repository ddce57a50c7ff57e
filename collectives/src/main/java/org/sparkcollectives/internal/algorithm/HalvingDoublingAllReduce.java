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
 * tensor for p ranks, and the tensor where n is no power of two.
 */
final class HalvingDoublingAllReduce implements MessageAlgorithm<Call.AllReduce> {

  /** A step that sends no more is not charged: the sockets of a connection hold about as much. */
  private static final long BUFFERED_BYTES = 1 << 20;

  private final Scratch scratch;

  HalvingDoublingAllReduce(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    return cost(ranks, Shape.ofParts(bytes, true));
  }

  @Override
  public Cost cost(int ranks, Shape shape) {
    PowerOfTwo core = PowerOfTwo.within(ranks);
    int p = core.size();
    long collected = shape.results() * (p - 1) / p;
    return core.isAll()
        ? new Cost(
            2L * core.steps(),
            2L * core.steps(),
            shape.bytes() / 2 + shape.accumulated() * (p - 2) / (2L * p) + collected,
            1,
            idle(p, shape))
        : new Cost(
            2L * core.steps() + 2,
            2L * core.steps() + 1,
            shape.accumulated() * (p - 1) / p + collected + shape.results(),
            1,
            idle(p, shape));
  }

  /**
   * Returns the bytes that a link could carry while it is idle between large steps, each of which
   * begins when the one before has come to its end, with another peer. Charged with a quarter of
   * what they send: between 4 and 8 hosts with 200 Mbit/s and 1 Gbit/s, 8 and 16 MiB used 50 to 99
   * % of the links, those of a ring 90 to 96 %.
   */
  private static long idle(int p, Shape shape) {
    long idle = 0;
    for (int half = p / 2; half >= 1; half /= 2) {
      idle += Math.max(0, shape.accumulated() * half / p - BUFFERED_BYTES);
      idle += Math.max(0, shape.results() * half / p - BUFFERED_BYTES);
    }
    return idle / 4;
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    PowerOfTwo core = PowerOfTwo.within(racks.ranks());
    long both = shape.accumulated() + shape.results();
    return Crossing.ofDealt(racks, core.size(), distance -> both * distance / core.size())
        .folded(racks, core, shape.accumulated());
  }

  @Override
  public boolean sendsMoreFarther() {
    return true;
  }

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    HostTensor contribution = call.contribution();
    ReduceKernel kernel = call.kernel();
    kernel.premultiply(contribution, 0, contribution.count());
    PowerOfTwo core = PowerOfTwo.within(peers.size());
    if (!core.contains(peers.rank())) {
      core.fold(peers, contribution, contribution, kernel);
    } else if (core.isAll() && core.size() > 1) {
      exchange(peers, call, core.size(), null);
    } else {
      Sums sums = Sums.of(call, 0, contribution.count(), scratch);
      core.fold(peers, contribution, sums.of(0, contribution.count()), kernel);
      exchange(peers, call, core.size(), sums);
    }
    core.unfold(peers, call.tensor());
  }

  /**
   * The sums of some elements.
   *
   * @param first the number of the element in the call's tensor that they begin with
   */
  private record Sums(HostTensor memory, long first) {

    /** Begins with the contributions. */
    static Sums of(Call.AllReduce call, long from, long count, Scratch scratch) {
      ReduceKernel kernel = call.kernel();
      if (kernel.reducesInPlace()) {
        return new Sums(call.contribution(), 0);
      }
      HostTensor memory = scratch.piece(kernel.accumulatorType(), 0, count);
      kernel.load(memory, 0, call.contribution(), from, count);
      return new Sums(memory, from);
    }

    HostTensor of(long from, long count) {
      return memory.slice(from - first, count);
    }

    HostTensor of(Chunks chunks, int firstChunk, int length) {
      return of(chunks.count(0, firstChunk), chunks.count(firstChunk, length));
    }
  }

  /**
   * Reduces the tensors of the core.
   *
   * @param folded the sums with the contributions of those beyond the core; null if there are none
   */
  private void exchange(Peers peers, Call.AllReduce call, int p, Sums folded) {
    int rank = peers.rank();
    ReduceKernel kernel = call.kernel();
    Chunks contributions = Chunks.of(call.contribution(), p);
    Sums sums = folded;
    int first = 0;
    for (int half = p / 2; half >= 1; half /= 2) {
      boolean upper = (rank & half) != 0;
      int kept = upper ? first + half : first;
      int given = upper ? first : first + half;
      if (sums == null) {
        // Contributions to which nothing was added are sent as they are.
        peers.pair(rank ^ half).send(contributions.range(given, half));
        long start = contributions.count(0, kept);
        sums = Sums.of(call, start, contributions.count(kept, half), scratch);
        peers.pair(rank ^ half).receiveAndReduce(sums.of(contributions, kept, half), kernel);
      } else {
        peers.pair(rank ^ half).send(sums.of(contributions, given, half));
        peers
            .pair(rank ^ half)
            .receiveAndReduce(sums.of(contributions, kept, half), PartialReduction.ofSums(kernel));
      }
      first = kept;
    }
    Chunks chunks = call.isInPlace() ? contributions : Chunks.of(call.tensor(), p);
    HostTensor own = chunks.at(rank);
    HostTensor sum = call.addsUpInResult() ? own : sums.of(contributions, rank, 1);
    kernel.finish(own, 0, sum, 0, own.count(), peers.size());
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
