package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Bruck's all-to-all (Bruck et al., 1997) of equal parts: in step k each rank sends, as one message
 * to the rank 2^k ahead, all parts whose way ahead has a step of this length, also those that it
 * carries for others.
 *
 * <p>Steps: ceil(log2 n). Bytes sent by each rank: half of all parts in each step. Scratch: all
 * parts, and what is sent and received.
 */
final class BruckAllToAll implements MessageAlgorithm<Call.AllToAll> {

  private final Scratch scratch;

  BruckAllToAll(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    int steps = Integer.SIZE - Integer.numberOfLeadingZeros(ranks - 1);
    return new Cost(steps, steps, bytes / ranks * carried(ranks));
  }

  /** Returns how many parts a rank sends in all steps together. */
  private static long carried(int ranks) {
    long parts = 0;
    for (int way = 1; way < ranks; way++) {
      parts += Integer.bitCount(way);
    }
    return parts;
  }

  @Override
  public void run(Peers peers, Call.AllToAll call) {
    Chunks outputs = call.outputs();
    Chunks inputs = call.inputs();
    int rank = peers.rank();
    int n = peers.size();
    HostTensor own = inputs.at(rank);
    long part = own.count();
    // Part i here goes i ranks ahead; at the end it has come from i ranks behind.
    HostTensor all = scratch.piece(own.dtype(), 0, part * n);
    for (int i = 0; i < n; i++) {
      all.copyFrom(i * part, inputs.at(rank + i), 0, part);
    }
    // What is being sent is not written again before the end.
    HostTensor sent = scratch.piece(own.dtype(), 1, part * carried(n));
    HostTensor received = scratch.piece(own.dtype(), 2, part * ((n + 1) / 2));
    long begin = 0;
    for (int distance = 1; distance < n; distance *= 2) {
      long end = begin;
      for (int i = distance; i < n; i++) {
        if ((i & distance) != 0) {
          sent.copyFrom(end, all, i * part, part);
          end += part;
        }
      }
      peers.pair((rank + distance) % n).send(sent.slice(begin, end - begin));
      peers.pair(Math.floorMod(rank - distance, n)).receive(received.slice(0, end - begin));
      long from = 0;
      for (int i = distance; i < n; i++) {
        if ((i & distance) != 0) {
          all.copyFrom(i * part, received, from, part);
          from += part;
        }
      }
      begin = end;
    }
    for (int i = 0; i < n; i++) {
      outputs.at(rank - i).copyFrom(0, all, i * part, part);
    }
    peers.flush();
  }
}
