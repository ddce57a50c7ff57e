package org.sparkcollectives.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Peers;
import org.sparkcollectives.transport.Stripes;

/**
 * The algorithms that send messages, over all {@link Stripes} of the ranks at once where the
 * operation is large: every rank's part is cut alike, and each stripe carries one piece of each, by
 * the algorithm that is the best for such a piece.
 *
 * <p>Operations whose sizes a rank does not know for all others go over one stripe.
 */
final class StripedAlgorithms {

  private final PathCosts costs;

  /** One for each stripe, as each has scratch memory for one thread. */
  private final List<MessageAlgorithms> stripes = new ArrayList<>();

  StripedAlgorithms(PathCosts costs) {
    this.costs = costs;
    stripes.add(new MessageAlgorithms(costs));
  }

  /** For operations in one part, whatever their size. */
  MessageAlgorithms unstriped() {
    return stripes.get(0);
  }

  /** What a stripe does in an operation. */
  private interface Piece {

    /**
     * Carries out the operation on one piece of each tensor.
     *
     * @param cut which piece
     * @param peers the ranks over the stripe
     */
    void run(MessageAlgorithms messages, Peers peers, Cut cut);
  }

  /** Which of how many pieces. */
  private record Cut(int index, int count) {

    HostTensor of(HostTensor tensor) {
      return count == 1 ? tensor : Chunks.part(tensor, index, count);
    }

    Chunks of(Chunks parts) {
      return count == 1 ? parts : parts.pieces(index, count);
    }
  }

  private void run(Peers peers, long bytes, Piece piece) {
    Stripes available = peers.stripes();
    int count = available == null ? 1 : available.count(bytes);
    if (count == 1) {
      piece.run(unstriped(), peers, new Cut(0, 1));
      return;
    }
    while (stripes.size() < count) {
      stripes.add(new MessageAlgorithms(costs));
    }
    available.run(
        count, (index, each) -> piece.run(stripes.get(index), each, new Cut(index, count)));
  }

  void allReduce(Peers peers, HostTensor tensor, ReduceKernel kernel) {
    run(
        peers,
        tensor.byteSize(),
        (messages, stripe, cut) -> messages.allReduce(stripe, cut.of(tensor), kernel));
  }

  void reduce(Peers peers, HostTensor tensor, int root, ReduceKernel kernel) {
    run(
        peers,
        tensor.byteSize(),
        (messages, stripe, cut) -> messages.reduce(stripe, cut.of(tensor), root, kernel));
  }

  /** Reduces parts. */
  void reduceScatter(
      Peers peers, HostTensor output, Chunks input, ReduceKernel kernel, boolean multiplies) {
    run(
        peers,
        input.bytes(),
        (messages, stripe, cut) ->
            messages.reduceScatter(stripe, cut.of(output), cut.of(input), kernel, multiplies));
  }

  void allGather(Peers peers, Chunks outputs, HostTensor input) {
    run(
        peers,
        outputs.bytes(),
        (messages, stripe, cut) -> messages.allGather(stripe, cut.of(outputs), cut.of(input)));
  }

  /** Sends each rank an equal part. */
  void allToAll(Peers peers, Chunks outputs, Chunks inputs) {
    run(
        peers,
        inputs.bytes(),
        (messages, stripe, cut) -> messages.allToAll(stripe, cut.of(outputs), cut.of(inputs)));
  }

  void broadcast(Peers peers, HostTensor tensor, int root) {
    run(
        peers,
        tensor.byteSize(),
        (messages, stripe, cut) -> messages.broadcast(stripe, cut.of(tensor), root));
  }
}
