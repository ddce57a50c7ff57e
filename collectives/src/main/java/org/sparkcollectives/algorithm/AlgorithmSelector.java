package org.sparkcollectives.algorithm;

import java.util.List;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Peers;

/**
 * Chooses the algorithm of each collective and runs it. All ranks choose alike, because the choice
 * depends only on what they agree on.
 *
 * <p>A reduction that accumulates in a wider type than its input goes the direct way, where each
 * element is rounded once; all others go around the ring, or up a tree.
 */
public final class AlgorithmSelector {

  private final RingAllReduce ringAllReduce = new RingAllReduce();
  private final DirectAllReduce directAllReduce = new DirectAllReduce();
  private final RingReduceScatter ringReduceScatter = new RingReduceScatter();
  private final DirectReduceScatter directReduceScatter = new DirectReduceScatter();
  private final BinomialReduce binomialReduce = new BinomialReduce();
  private final DirectReduce directReduce = new DirectReduce();
  private final RingAllGather ringAllGather = new RingAllGather();
  private final BinomialBroadcast binomialBroadcast = new BinomialBroadcast();
  private final DisseminationBarrier disseminationBarrier = new DisseminationBarrier();

  /** Reduces {@code tensor} over all ranks, in place. */
  public void allReduce(Peers peers, HostTensor tensor, ReduceOp op) {
    ReduceKernel kernel = ReduceKernel.of(op, tensor.dtype());
    if (kernel.reducesInPlace()) {
      ringAllReduce.run(peers, tensor, kernel);
    } else {
      directAllReduce.run(peers, tensor, kernel);
    }
  }

  /** Reduces {@code tensor} over all ranks, in place at the root; elsewhere it is only read. */
  public void reduce(Peers peers, HostTensor tensor, ReduceOp op, int root) {
    ReduceKernel kernel = ReduceKernel.of(op, tensor.dtype());
    if (kernel.reducesInPlace()) {
      binomialReduce.run(peers, tensor, root, kernel);
    } else {
      directReduce.run(peers, tensor, root, kernel);
    }
  }

  /** Reduces equal parts of {@code input}, one to each rank. */
  public void reduceScatter(Peers peers, HostTensor output, HostTensor input, ReduceOp op) {
    reduceScatter(peers, output, Chunks.equal(input, peers.size()), op);
  }

  /** Reduces {@code inputs}, one to each rank; they may differ in size. */
  public void reduceScatter(Peers peers, HostTensor output, List<HostTensor> inputs, ReduceOp op) {
    reduceScatter(peers, output, Chunks.ofParts(inputs), op);
  }

  private void reduceScatter(Peers peers, HostTensor output, Chunks input, ReduceOp op) {
    ReduceKernel kernel = ReduceKernel.of(op, output.dtype());
    if (kernel.reducesInPlace()) {
      ringReduceScatter.run(peers, output, input, kernel);
    } else {
      boolean multiplies = op.kind() == ReduceOp.Kind.PREMUL_SUM;
      directReduceScatter.run(
          peers, output, multiplies ? input.premultiplied(kernel) : input, kernel);
    }
  }

  /** Gathers inputs of equal size. */
  public void allGather(Peers peers, HostTensor output, HostTensor input) {
    ringAllGather.run(peers, output, input);
  }

  /** Gathers inputs that may differ in size. */
  public void allGather(Peers peers, List<HostTensor> outputs, HostTensor input) {
    ringAllGather.run(peers, outputs, input);
  }

  /** Sends the root's tensor to all. */
  public void broadcast(Peers peers, HostTensor tensor, int root) {
    binomialBroadcast.run(peers, tensor, root);
  }

  /** Returns when all ranks have called it. */
  public void barrier(Peers peers) {
    disseminationBarrier.run(peers);
  }
}
