package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The messages of a ring, in which each step sends to the next rank what the step before has
 * received from the previous one. Large chunks go in two pieces, as Gloo's ring sends them: while
 * one piece comes in, the other goes out, so that no link idles between two steps until a chunk has
 * come to its end.
 *
 * @param pieces in how many pieces each chunk goes; the same on all ranks
 */
record RingPipeline(int pieces) {

  /** Smaller chunks go as a whole: each message costs a system call on both sides. */
  static final long SMALLEST_CUT_BYTES = 256 * 1024;

  /** As many as {@link Pair#queue} takes without a wait in which nothing is received. */
  private static final int MOST_AHEAD = 2;

  /** The content of a ring's messages. */
  interface Steps {

    /** Returns what a step sends. It was received one step before. */
    HostTensor outgoing(int step, int piece);

    /** Receives what a step brings, by one call of {@code previous}. */
    void receive(Pair previous, int step, int piece);
  }

  /** Returns the pipeline of chunks that have {@code bytes} in all, one for each rank. */
  static RingPipeline of(int ranks, long bytes) {
    return new RingPipeline(ranks > 2 && bytes / ranks >= SMALLEST_CUT_BYTES ? 2 : 1);
  }

  /** Returns the i-th piece of all chunks, for each i. */
  Chunks[] cut(Chunks chunks) {
    Chunks[] cut = new Chunks[pieces];
    for (int i = 0; i < pieces; i++) {
      cut[i] = pieces == 1 ? chunks : chunks.pieces(i, pieces);
    }
    return cut;
  }

  /**
   * Returns which of {@link #accumulators} a step receives into. When it does, what that one had
   * before has left: of what was sent since, two messages at the most are still on their way.
   */
  int accumulator(int step, int piece) {
    return Math.floorMod(step * pieces + piece, accumulators());
  }

  /** Returns how many pieces of memory are enough for what is received and sent on. */
  int accumulators() {
    return pieces + 2;
  }

  /** Runs steps. The last messages may still be on their way when it returns. */
  void run(Peers peers, int count, Steps steps) {
    if (count == 0) {
      return; // One rank has no neighbour.
    }
    Pair next = peers.next();
    Pair previous = peers.previous();
    int messages = count * pieces;
    int ahead = Math.min(pieces, MOST_AHEAD);
    int sent = 0;
    for (int received = 0; received < messages; received++) {
      for (; sent < Math.min(messages, received + ahead); sent++) {
        next.queue(steps.outgoing(sent / pieces, sent % pieces));
      }
      steps.receive(previous, received / pieces, received % pieces);
    }
  }
}
