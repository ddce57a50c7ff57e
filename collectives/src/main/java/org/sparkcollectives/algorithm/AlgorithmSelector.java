package org.sparkcollectives.algorithm;

import java.util.List;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Peers;
import org.sparkcollectives.transport.SharedRegion;
import org.sparkcollectives.transport.SharedSlots;

/**
 * Chooses the algorithm of each collective and runs it. All ranks choose alike, because the choice
 * depends only on what they agree on.
 *
 * <p>Where all ranks see one memory, that is used for everything. Else what {@link CostModel}
 * predicts to take the least time is chosen among the algorithms that can do it; a reduction that
 * accumulates in a wider type than its input goes the direct ways, where each element is rounded
 * once.
 */
public final class AlgorithmSelector {

  /** What Bruck's all-gather may copy once more. */
  private static final long LARGEST_COPIED_BYTES = 1 << 20;

  private final CostModel costs;
  private final Scratch scratch = new Scratch();
  private final List<AllReduceAlgorithm> allReduces =
      List.of(
          new FlatAllReduce(scratch),
          new DirectAllReduce(),
          new RecursiveDoublingAllReduce(scratch),
          new HalvingDoublingAllReduce(),
          new RingAllReduce());
  private final RingReduceScatter ringReduceScatter = new RingReduceScatter();
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
  private final SlotCollectives slotCollectives = new SlotCollectives(scratch);

  /** A choice by these costs, which must be the same on all ranks. */
  public AlgorithmSelector(CostModel costs) {
    this.costs = costs;
  }

  /** Reduces {@code tensor} over all ranks, in place. */
  public void allReduce(Peers peers, HostTensor tensor, ReduceOp op) {
    ReduceKernel kernel = ReduceKernel.of(op, tensor.dtype());
    SharedSlots slots = slotsFor(peers, op);
    if (slots != null) {
      slotCollectives.allReduce(slots, tensor, kernel);
      return;
    }
    SharedRegion region = regionFor(peers, op, List.of(tensor));
    if (region != null) {
      sharedAllReduce.run(region, tensor, kernel);
    } else {
      allReduceOf(peers.size(), tensor.byteSize(), kernel).run(peers, tensor, kernel);
    }
  }

  /** What reduces so many bytes over so many ranks. */
  AllReduceAlgorithm allReduceOf(int ranks, long bytes, ReduceKernel kernel) {
    List<AllReduceAlgorithm> able = allReduces.stream().filter(each -> each.takes(kernel)).toList();
    List<AllReduceAlgorithm> allowed =
        able.stream().filter(each -> costs.allowsMesh(ranks) || !each.needsMesh()).toList();
    return costs.cheapest(
        allowed.isEmpty() ? able : allowed, each -> each.cost(Math.max(2, ranks), bytes));
  }

  /** Reduces {@code tensor} over all ranks, in place at the root; elsewhere it is only read. */
  public void reduce(Peers peers, HostTensor tensor, ReduceOp op, int root) {
    ReduceKernel kernel = ReduceKernel.of(op, tensor.dtype());
    SharedSlots slots = slotsFor(peers, op);
    if (slots != null) {
      slotCollectives.reduce(slots, tensor, root, kernel);
      return;
    }
    SharedRegion region = regionFor(peers, op, List.of(tensor));
    if (region != null) {
      sharedReduce.run(region, tensor, root, kernel, multiplies(op));
    } else if (kernel.reducesInPlace()) {
      if (chainIsCheaper(
          peers,
          chainReduce.cost(peers.size(), tensor.byteSize()),
          binomialReduce.cost(Math.max(2, peers.size()), tensor.byteSize()))) {
        chainReduce.run(peers, tensor, root, kernel);
      } else {
        binomialReduce.run(peers, tensor, root, kernel);
      }
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
    SharedSlots slots = slotsFor(peers, op);
    if (slots != null) {
      slotCollectives.reduceScatter(slots, output, input, kernel);
      return;
    }
    SharedRegion region = regionFor(peers, op, input.all());
    if (region != null) {
      sharedReduceScatter.run(region, output, multiplied(input, op, kernel), kernel);
    } else if (kernel.reducesInPlace() && !isShort(peers, input)) {
      ringReduceScatter.run(peers, output, input, kernel);
    } else {
      directReduceScatter.run(peers, output, multiplied(input, op, kernel), kernel);
    }
  }

  /** Whether the direct way is cheaper than around the ring. */
  private boolean isShort(Peers peers, Chunks input) {
    int n = Math.max(2, peers.size());
    return costs.allowsMesh(n)
        && costs.seconds(directReduceScatter.cost(n, input.bytes()))
            < costs.seconds(ringReduceScatter.cost(n, input.bytes()));
  }

  private boolean chainIsCheaper(Peers peers, Cost chain, Cost tree) {
    return peers.size() > 2 && costs.seconds(chain) < costs.seconds(tree);
  }

  private static Chunks multiplied(Chunks input, ReduceOp op, ReduceKernel kernel) {
    return multiplies(op) ? input.premultiplied(kernel) : input;
  }

  /**
   * The memory that all ranks see for a reduction. What is multiplied first is a copy, or changes
   * after it was asked for, and only the heap waits until it is shown.
   */
  private static SharedRegion regionFor(Peers peers, ReduceOp op, List<HostTensor> tensors) {
    return multiplies(op) ? peers.region() : peers.regionFor(tensors);
  }

  /** The room that all ranks see for a small reduction; what is multiplied first needs a copy. */
  private static SharedSlots slotsFor(Peers peers, ReduceOp op) {
    return multiplies(op) ? null : peers.slots();
  }

  private static boolean multiplies(ReduceOp op) {
    return op.kind() == ReduceOp.Kind.PREMUL_SUM;
  }

  /** Gathers inputs of equal size. */
  public void allGather(Peers peers, HostTensor output, HostTensor input) {
    Chunks outputs = Chunks.equal(output, peers.size());
    SharedSlots slots = peers.slots();
    if (slots != null) {
      slotCollectives.allGather(slots, outputs, input);
      return;
    }
    int n = Math.max(2, peers.size());
    boolean bruck =
        peers.region() == null
            && !costs.allowsMesh(n)
            && output.byteSize() <= LARGEST_COPIED_BYTES
            && costs.seconds(bruckAllGather.cost(n, output.byteSize()))
                < costs.seconds(ringAllGather.cost(n, output.byteSize()));
    if (bruck) {
      bruckAllGather.run(peers, outputs, input);
    } else {
      allGather(peers, outputs, input);
    }
  }

  /** Gathers inputs that may differ in size. */
  public void allGather(Peers peers, List<HostTensor> outputs, HostTensor input) {
    SharedSlots slots = peers.slots();
    if (slots != null) {
      slotCollectives.allGather(slots, Chunks.ofParts(outputs), input);
    } else {
      allGather(peers, Chunks.ofParts(outputs), input);
    }
  }

  private void allGather(Peers peers, Chunks outputs, HostTensor input) {
    SharedRegion region = peers.regionFor(List.of(input));
    if (region != null) {
      sharedAllGather.run(region, outputs, input);
    } else if (isShort(peers, outputs)) {
      flatAllGather.run(peers, outputs, input);
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
    Chunks outputs = Chunks.equal(output, peers.size());
    Chunks inputs = Chunks.equal(input, peers.size());
    SharedSlots slots = peers.slots();
    if (slots != null) {
      slotCollectives.allToAll(slots, outputs, inputs);
    } else {
      allToAll(peers, outputs, inputs);
    }
  }

  /** Sends each rank its part; parts may differ in size. */
  public void allToAll(Peers peers, List<HostTensor> outputs, List<HostTensor> inputs) {
    allToAll(peers, Chunks.ofParts(outputs), Chunks.ofParts(inputs));
  }

  private void allToAll(Peers peers, Chunks outputs, Chunks inputs) {
    SharedRegion region = peers.regionFor(inputs.all());
    if (region != null) {
      sharedAllToAll.run(region, outputs, inputs);
    } else {
      pairwiseAllToAll.run(peers, outputs, inputs);
    }
  }

  /** Sends the root's tensor to all. */
  public void broadcast(Peers peers, HostTensor tensor, int root) {
    SharedSlots slots = peers.slots();
    if (slots != null) {
      slotCollectives.broadcast(slots, tensor, root);
      return;
    }
    SharedRegion region = peers.regionFor(peers.rank() == root ? List.of(tensor) : List.of());
    if (region != null) {
      sharedBroadcast.run(region, tensor, root);
    } else if (chainIsCheaper(
        peers,
        chainBroadcast.cost(peers.size(), tensor.byteSize()),
        binomialBroadcast.cost(Math.max(2, peers.size()), tensor.byteSize()))) {
      chainBroadcast.run(peers, tensor, root);
    } else {
      binomialBroadcast.run(peers, tensor, root);
    }
  }

  /** Returns when all ranks have called it. */
  public void barrier(Peers peers) {
    SharedSlots slots = peers.slots();
    if (slots != null) {
      slotCollectives.barrier(slots);
    } else if (peers.region() != null) {
      sharedBarrier.run(peers.region());
    } else {
      disseminationBarrier.run(peers);
    }
  }
}
