package org.sparkcollectives.algorithm;

import java.util.List;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Peers;
import org.sparkcollectives.transport.Reach;

/**
 * The algorithms that send messages, and which of them is predicted to take the least time. A
 * reduction that accumulates in a wider type than its input goes the direct ways, where each
 * element is rounded once.
 */
final class MessageAlgorithms {

  /** What Bruck's algorithms may copy once more. */
  private static final long LARGEST_COPIED_BYTES = 1 << 20;

  private final PathCosts costs;
  private final Scratch scratch = new Scratch();
  private final List<AllReduceAlgorithm> allReduces =
      List.of(
          new FlatAllReduce(scratch),
          new DirectAllReduce(),
          new RecursiveDoublingAllReduce(scratch),
          new HalvingDoublingAllReduce(),
          new RingAllReduce());
  private final RingReduceScatter ringReduceScatter = new RingReduceScatter();
  private final BruckReduceScatter bruckReduceScatter = new BruckReduceScatter(scratch);
  private final DirectReduceScatter directReduceScatter = new DirectReduceScatter();
  private final BinomialReduce binomialReduce = new BinomialReduce();
  private final ChainReduce chainReduce = new ChainReduce(scratch);
  private final DirectReduce directReduce = new DirectReduce();
  private final RingAllGather ringAllGather = new RingAllGather();
  private final BruckAllGather bruckAllGather = new BruckAllGather(scratch);
  private final FlatAllGather flatAllGather = new FlatAllGather();
  private final ChainBroadcast chainBroadcast = new ChainBroadcast();
  private final BinomialBroadcast binomialBroadcast = new BinomialBroadcast();
  private final DisseminationBarrier disseminationBarrier = new DisseminationBarrier();
  private final LinearGather linearGather = new LinearGather();
  private final LinearScatter linearScatter = new LinearScatter();
  private final PairwiseAllToAll pairwiseAllToAll = new PairwiseAllToAll();

  MessageAlgorithms(PathCosts costs) {
    this.costs = costs;
  }

  void allReduce(Peers peers, HostTensor tensor, ReduceKernel kernel) {
    allReduceOf(peers.reach(), peers.size(), tensor.byteSize(), kernel).run(peers, tensor, kernel);
  }

  /** What reduces so many bytes over so many ranks. */
  AllReduceAlgorithm allReduceOf(Reach reach, int ranks, long bytes, ReduceKernel kernel) {
    CostModel model = costs.of(reach);
    AllReduceAlgorithm best = null;
    boolean bestIsAllowed = false;
    double bestSeconds = 0;
    for (AllReduceAlgorithm each : allReduces) {
      boolean allowed =
          (model.allowsMesh(ranks) || !each.needsMesh())
              && (bytes <= Scratch.LARGEST_HELD_BYTES || !each.copies());
      // What is not allowed is better than nothing.
      if (each.takes(kernel) && (allowed || !bestIsAllowed)) {
        double seconds = model.seconds(each.cost(Math.max(2, ranks), bytes));
        if (best == null || allowed != bestIsAllowed || seconds < bestSeconds) {
          best = each;
          bestIsAllowed = allowed;
          bestSeconds = seconds;
        }
      }
    }
    return best;
  }

  /** How long that takes. */
  double allReduceSeconds(Reach reach, int ranks, long bytes, ReduceKernel kernel) {
    return costs
        .of(reach)
        .seconds(allReduceOf(reach, ranks, bytes, kernel).cost(Math.max(2, ranks), bytes));
  }

  void reduce(Peers peers, HostTensor tensor, int root, ReduceKernel kernel) {
    int n = peers.size();
    if (!kernel.reducesInPlace()) {
      directReduce.run(peers, tensor, root, kernel);
    } else if (reducesInChain(peers.reach(), n, tensor.byteSize())) {
      chainReduce.run(peers, tensor, root, kernel);
    } else {
      binomialReduce.run(peers, tensor, root, kernel);
    }
  }

  private boolean reducesInChain(Reach reach, int ranks, long bytes) {
    return chainIsCheaper(
        reach,
        ranks,
        chainReduce.cost(ranks, bytes),
        binomialReduce.cost(Math.max(2, ranks), bytes));
  }

  private boolean chainIsCheaper(Reach reach, int ranks, Cost chain, Cost tree) {
    return ranks > 2 && costs.of(reach).seconds(chain) < costs.of(reach).seconds(tree);
  }

  /** How long a reduce takes. */
  double reduceSeconds(Reach reach, int ranks, long bytes, ReduceKernel kernel) {
    int n = Math.max(2, ranks);
    Cost cost =
        !kernel.reducesInPlace()
            ? directReduce.cost(n, bytes)
            : reducesInChain(reach, ranks, bytes)
                ? chainReduce.cost(n, bytes)
                : binomialReduce.cost(n, bytes);
    return costs.of(reach).seconds(cost);
  }

  /** Reduces parts. */
  void reduceScatter(
      Peers peers, HostTensor output, Chunks input, ReduceKernel kernel, boolean multiplies) {
    Reach reach = peers.reach();
    int n = peers.size();
    long bytes = input.bytes();
    if (!kernel.reducesInPlace() || isShort(reach, n, bytes)) {
      Chunks multiplied = multiplies ? input.premultiplied(kernel) : input;
      directReduceScatter.run(peers, output, multiplied, kernel);
    } else if (isForBruck(
        reach, n, bytes, bruckReduceScatter.cost(n, bytes), ringReduceScatter.cost(n, bytes))) {
      bruckReduceScatter.run(peers, output, input, kernel);
    } else {
      ringReduceScatter.run(peers, output, input, kernel);
    }
  }

  /** How long a reduce-scatter of so many bytes in all parts takes. */
  double reduceScatterSeconds(Reach reach, int ranks, long bytes, ReduceKernel kernel) {
    int n = Math.max(2, ranks);
    Cost bruck = bruckReduceScatter.cost(n, bytes);
    Cost ring = ringReduceScatter.cost(n, bytes);
    Cost cost =
        !kernel.reducesInPlace() || isShort(reach, n, bytes)
            ? directReduceScatter.cost(n, bytes)
            : isForBruck(reach, n, bytes, bruck, ring) ? bruck : ring;
    return costs.of(reach).seconds(cost);
  }

  /** Whether a logarithmic number of steps is worth another copy. */
  private boolean isForBruck(Reach reach, int ranks, long bytes, Cost bruck, Cost ring) {
    CostModel model = costs.of(reach);
    return !model.allowsMesh(ranks)
        && bytes <= LARGEST_COPIED_BYTES
        && model.seconds(bruck) < model.seconds(ring);
  }

  /** Whether the direct way is cheaper than around the ring, of so many bytes in all parts. */
  private boolean isShort(Reach reach, int ranks, long bytes) {
    int n = Math.max(2, ranks);
    CostModel model = costs.of(reach);
    return model.allowsMesh(n)
        && model.seconds(directReduceScatter.cost(n, bytes))
            < model.seconds(ringReduceScatter.cost(n, bytes));
  }

  void allGather(Peers peers, Chunks outputs, HostTensor input) {
    Reach reach = peers.reach();
    int n = Math.max(2, peers.size());
    long bytes = outputs.bytes();
    if (outputs.areEqual() && gathersByBruck(reach, n, bytes)) {
      bruckAllGather.run(peers, outputs, input);
    } else if (isShort(reach, n, bytes)) {
      flatAllGather.run(peers, outputs, input);
    } else {
      ringAllGather.run(peers, outputs, input);
    }
  }

  private boolean gathersByBruck(Reach reach, int n, long bytes) {
    return isForBruck(reach, n, bytes, bruckAllGather.cost(n, bytes), ringAllGather.cost(n, bytes));
  }

  /** How long an all-gather of so many bytes in all parts takes. */
  double allGatherSeconds(Reach reach, int ranks, long bytes, boolean equal) {
    int n = Math.max(2, ranks);
    Cost cost =
        equal && gathersByBruck(reach, n, bytes)
            ? bruckAllGather.cost(n, bytes)
            : isShort(reach, n, bytes)
                ? flatAllGather.cost(n, bytes)
                : ringAllGather.cost(n, bytes);
    return costs.of(reach).seconds(cost);
  }

  void gather(Peers peers, List<HostTensor> outputs, HostTensor input, int root) {
    linearGather.run(peers, outputs, input, root);
  }

  void scatter(Peers peers, HostTensor output, List<HostTensor> inputs, int root) {
    linearScatter.run(peers, output, inputs, root);
  }

  /** How long it takes to scatter so many bytes in all parts, or to gather them. */
  double scatterSeconds(Reach reach, int ranks, long bytes) {
    return costs.of(reach).seconds(linearScatter.cost(Math.max(2, ranks), bytes));
  }

  void allToAll(Peers peers, Chunks outputs, Chunks inputs) {
    pairwiseAllToAll.run(peers, outputs, inputs);
  }

  /** How long an all-to-all of so many bytes in all parts takes. */
  double allToAllSeconds(Reach reach, int ranks, long bytes) {
    return costs.of(reach).seconds(pairwiseAllToAll.cost(Math.max(2, ranks), bytes));
  }

  void broadcast(Peers peers, HostTensor tensor, int root) {
    if (broadcastsInChain(peers.reach(), peers.size(), tensor.byteSize())) {
      chainBroadcast.run(peers, tensor, root);
    } else {
      binomialBroadcast.run(peers, tensor, root);
    }
  }

  private boolean broadcastsInChain(Reach reach, int ranks, long bytes) {
    return chainIsCheaper(
        reach,
        ranks,
        chainBroadcast.cost(ranks, bytes),
        binomialBroadcast.cost(Math.max(2, ranks), bytes));
  }

  /** How long a broadcast takes. */
  double broadcastSeconds(Reach reach, int ranks, long bytes) {
    int n = Math.max(2, ranks);
    return costs
        .of(reach)
        .seconds(
            broadcastsInChain(reach, ranks, bytes)
                ? chainBroadcast.cost(n, bytes)
                : binomialBroadcast.cost(n, bytes));
  }

  void barrier(Peers peers) {
    disseminationBarrier.run(peers);
  }

  /** How long a barrier takes. */
  double barrierSeconds(Reach reach, int ranks) {
    return costs.of(reach).seconds(disseminationBarrier.cost(Math.max(2, ranks)));
  }
}
