package org.sparkcollectives.algorithm;

import java.util.List;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Peers;

/**
 * Chooses the algorithm of each collective and runs it. All ranks choose alike, because the choice
 * depends only on what they agree on.
 *
 * <p>Where all ranks see one memory, that is used for everything. Else a reduction that accumulates
 * in a wider type than its input goes the direct way, where each element is rounded once; all
 * others go around the ring, or up a tree.
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
  private final LinearGather linearGather = new LinearGather();
  private final LinearScatter linearScatter = new LinearScatter();
  private final PairwiseAllToAll pairwiseAllToAll = new PairwiseAllToAll();
  private final CoalescedAllReduce coalescedAllReduce = new CoalescedAllReduce();
  private final SparseAllReduce sparseAllReduce = new SparseAllReduce();
  private final SharedGather sharedGather = new SharedGather();
  private final SharedScatter sharedScatter = new SharedScatter();
  private final SharedAllToAll sharedAllToAll = new SharedAllToAll();
  private final SharedAllReduce sharedAllReduce = new SharedAllReduce();
  private final SharedReduce sharedReduce = new SharedReduce();
  private final SharedReduceScatter sharedReduceScatter = new SharedReduceScatter();
  private final SharedAllGather sharedAllGather = new SharedAllGather();
  private final SharedBroadcast sharedBroadcast = new SharedBroadcast();
  private final SharedBarrier sharedBarrier = new SharedBarrier();

  /** Reduces {@code tensor} over all ranks, in place. */
  public void allReduce(Peers peers, HostTensor tensor, ReduceOp op) {
    ReduceKernel kernel = ReduceKernel.of(op, tensor.dtype());
    if (peers.region() != null) {
      sharedAllReduce.run(peers.region(), tensor, kernel);
    } else if (kernel.reducesInPlace()) {
      ringAllReduce.run(peers, tensor, kernel);
    } else {
      directAllReduce.run(peers, tensor, kernel);
    }
  }

  /** Reduces {@code tensor} over all ranks, in place at the root; elsewhere it is only read. */
  public void reduce(Peers peers, HostTensor tensor, ReduceOp op, int root) {
    ReduceKernel kernel = ReduceKernel.of(op, tensor.dtype());
    if (peers.region() != null) {
      sharedReduce.run(peers.region(), tensor, root, kernel, multiplies(op));
    } else if (kernel.reducesInPlace()) {
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
    if (peers.region() != null) {
      sharedReduceScatter.run(peers.region(), output, multiplied(input, op, kernel), kernel);
    } else if (kernel.reducesInPlace()) {
      ringReduceScatter.run(peers, output, input, kernel);
    } else {
      directReduceScatter.run(peers, output, multiplied(input, op, kernel), kernel);
    }
  }

  private static Chunks multiplied(Chunks input, ReduceOp op, ReduceKernel kernel) {
    return multiplies(op) ? input.premultiplied(kernel) : input;
  }

  private static boolean multiplies(ReduceOp op) {
    return op.kind() == ReduceOp.Kind.PREMUL_SUM;
  }

  /** Gathers inputs of equal size. */
  public void allGather(Peers peers, HostTensor output, HostTensor input) {
    allGather(peers, Chunks.equal(output, peers.size()), input);
  }

  /** Gathers inputs that may differ in size. */
  public void allGather(Peers peers, List<HostTensor> outputs, HostTensor input) {
    allGather(peers, Chunks.ofParts(outputs), input);
  }

  private void allGather(Peers peers, Chunks outputs, HostTensor input) {
    if (peers.region() != null) {
      sharedAllGather.run(peers.region(), outputs, input);
    } else {
      ringAllGather.run(peers, outputs, input);
    }
  }

  /** The sum of all ranks' tensors. */
  public SparseTensor allReduce(Peers peers, SparseTensor tensor) {
    return sparseAllReduce.run(peers, tensor, this::allGather);
  }

  /** Reduces each of {@code tensors}, which are of one type, over all ranks, in place. */
  public void allReduceCoalesced(Peers peers, List<HostTensor> tensors, ReduceOp op) {
    coalescedAllReduce.run(tensors, tensor -> allReduce(peers, tensor, op));
  }

  /** Gathers inputs that may differ in size at the root; {@code outputs} are empty elsewhere. */
  public void gather(Peers peers, List<HostTensor> outputs, HostTensor input, int root) {
    if (peers.region() != null) {
      sharedGather.run(peers.region(), outputs, input, root);
    } else {
      linearGather.run(peers, outputs, input, root);
    }
  }

  /** Scatters the root's inputs, which may differ in size and are empty elsewhere. */
  public void scatter(Peers peers, HostTensor output, List<HostTensor> inputs, int root) {
    if (peers.region() != null) {
      sharedScatter.run(peers.region(), output, inputs, root);
    } else {
      linearScatter.run(peers, output, inputs, root);
    }
  }

  /** Sends each rank an equal part. */
  public void allToAll(Peers peers, HostTensor output, HostTensor input) {
    allToAll(peers, Chunks.equal(output, peers.size()), Chunks.equal(input, peers.size()));
  }

  /** Sends each rank its part; parts may differ in size. */
  public void allToAll(Peers peers, List<HostTensor> outputs, List<HostTensor> inputs) {
    allToAll(peers, Chunks.ofParts(outputs), Chunks.ofParts(inputs));
  }

  private void allToAll(Peers peers, Chunks outputs, Chunks inputs) {
    if (peers.region() != null) {
      sharedAllToAll.run(peers.region(), outputs, inputs);
    } else {
      pairwiseAllToAll.run(peers, outputs, inputs);
    }
  }

  /** Sends the root's tensor to all. */
  public void broadcast(Peers peers, HostTensor tensor, int root) {
    if (peers.region() != null) {
      sharedBroadcast.run(peers.region(), tensor, root);
    } else {
      binomialBroadcast.run(peers, tensor, root);
    }
  }

  /** Returns when all ranks have called it. */
  public void barrier(Peers peers) {
    if (peers.region() != null) {
      sharedBarrier.run(peers.region());
    } else {
      disseminationBarrier.run(peers);
    }
  }
}
