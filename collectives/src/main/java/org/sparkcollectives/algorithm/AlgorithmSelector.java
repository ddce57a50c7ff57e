package org.sparkcollectives.algorithm;

import java.util.List;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Peers;
import org.sparkcollectives.transport.SharedRegion;
import org.sparkcollectives.transport.SharedSlots;
import org.sparkcollectives.transport.SharedStaging;

/**
 * Chooses the algorithm of each collective and runs it. All ranks choose alike, because the choice
 * depends only on what they agree on.
 *
 * <p>Where all ranks see one memory, that is used for everything, or its slots for what is small.
 * Else what {@link CostModel} predicts to take the least time is chosen among the algorithms that
 * can do it: a hierarchical one where some ranks see one memory, see {@link
 * HierarchicalAlgorithms}, or one that sends messages, see {@link MessageAlgorithms}; that goes
 * over several connections at once where the operation is large, see {@link StripedAlgorithms}.
 */
public final class AlgorithmSelector {

  private final StripedAlgorithms messages;
  private final HierarchicalAlgorithms hierarchical;
  private final CoalescedAllReduce coalescedAllReduce = new CoalescedAllReduce();
  private final SparseAllReduce sparseAllReduce = new SparseAllReduce();
  private final SharedGather sharedGather = new SharedGather();
  private final SharedScatter sharedScatter = new SharedScatter();
  private final SharedAllToAll sharedAllToAll = new SharedAllToAll();
  private final CopiedAllReduce copiedAllReduce = new CopiedAllReduce();
  private final SharedAllReduce sharedAllReduce = new SharedAllReduce();
  private final StagedAllReduce stagedAllReduce = new StagedAllReduce();
  private final SharedReduce sharedReduce = new SharedReduce();
  private final SharedReduceScatter sharedReduceScatter = new SharedReduceScatter();
  private final SharedAllGather sharedAllGather = new SharedAllGather();
  private final SharedBroadcast sharedBroadcast = new SharedBroadcast();
  private final SharedBarrier sharedBarrier = new SharedBarrier();
  private final SlotCollectives slotCollectives = new SlotCollectives();

  /** A choice by these costs, which must be the same on all ranks. */
  public AlgorithmSelector(PathCosts costs) {
    this.messages = new StripedAlgorithms(costs);
    this.hierarchical = new HierarchicalAlgorithms(this, messages.unstriped(), costs);
  }

  /** Reduces {@code tensor} over all ranks, in place. */
  public void allReduce(Peers peers, HostTensor tensor, ReduceOp op) {
    ReduceKernel kernel = ReduceKernel.of(op, tensor.dtype());
    SharedSlots slots = slotsFor(peers, op);
    if (slots != null) {
      slotCollectives.allReduce(slots, tensor, kernel);
      return;
    }
    if (peers.region() != null && CopiedAllReduce.isFor(peers.size(), tensor.byteSize())) {
      copiedAllReduce.run(peers.region(), tensor, kernel);
      return;
    }
    SharedRegion region = regionFor(peers, op, List.of(tensor));
    if (region != null) {
      sharedAllReduce.run(region, tensor, kernel);
      return;
    }
    SharedStaging staging = peers.staging();
    if (staging != null) {
      stagedAllReduce.run(staging, tensor, kernel);
    } else if (!hierarchical.allReduce(peers, tensor, op, kernel)) {
      messages.allReduce(peers, tensor, kernel);
    }
  }

  /** Reduces {@code tensor} over all ranks, in place at the root; elsewhere it is only read. */
  public void reduce(Peers peers, HostTensor tensor, ReduceOp op, int root) {
    ReduceKernel kernel = ReduceKernel.of(op, tensor.dtype());
    SharedSlots slots = slotsFor(peers, op);
    if (slots != null) {
      slotCollectives.reduce(slots, tensor, root, kernel);
      return;
    }
    if (peers.region() != null) {
      HostTensor input = contribution(tensor, peers.rank() == root, op, kernel);
      sharedReduce.run(peers.region(), sharedReduce.shown(peers, input, root), root, kernel);
      return;
    }
    List<HostTensor> shown = sharedReduce.shown(peers, tensor, root);
    SharedRegion region = regionFor(peers, op, shown);
    if (region != null) {
      sharedReduce.run(region, shown, root, kernel);
    } else if (!hierarchical.reduce(peers, tensor, root, op, kernel)) {
      messages.reduce(peers, tensor, root, kernel);
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
    } else if (!hierarchical.reduceScatter(peers, output, input, op, kernel)) {
      messages.reduceScatter(peers, output, input, kernel, multiplies(op));
    }
  }

  /** Reduces multiplied parts, as a phase of another operation. */
  void reduceScatter(Peers peers, HostTensor output, Chunks input, PartialReduction kernel) {
    if (peers.region() != null) {
      sharedReduceScatter.run(peers.region(), output, input, kernel);
    } else {
      messages.reduceScatter(peers, output, input, kernel, false);
    }
  }

  /** What a rank gives to a reduce: its tensor; multiplied, which others than the root copy. */
  private static HostTensor contribution(
      HostTensor tensor, boolean atRoot, ReduceOp op, ReduceKernel kernel) {
    if (!multiplies(op)) {
      return tensor;
    }
    HostTensor input = tensor;
    if (!atRoot) {
      input = HostTensor.allocate(tensor.dtype(), tensor.count());
      input.copyFrom(0, tensor, 0, tensor.count());
    }
    kernel.premultiply(input, 0, input.count());
    return input;
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

  static boolean multiplies(ReduceOp op) {
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

  void allGather(Peers peers, Chunks outputs, HostTensor input) {
    SharedSlots slots = peers.slots();
    if (slots != null) {
      slotCollectives.allGather(slots, outputs, input);
      return;
    }
    SharedRegion region = peers.regionFor(List.of(input));
    if (region != null) {
      sharedAllGather.run(region, outputs, input);
    } else if (!hierarchical.allGather(peers, outputs, input)) {
      messages.allGather(peers, outputs, input);
    }
  }

  /**
   * The sum of all ranks' tensors.
   *
   * @param call what this rank calls, for ranks that call another
   */
  public SparseTensor allReduce(Peers peers, SparseTensor tensor, CollectiveCall call) {
    return sparseAllReduce.run(peers, tensor, call, this::allGather);
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
      messages.unstriped().gather(peers, outputs, input, root);
    }
  }

  /** Scatters the root's inputs, which may differ in size and are empty elsewhere. */
  public void scatter(Peers peers, HostTensor output, List<HostTensor> inputs, int root) {
    if (peers.region() != null) {
      sharedScatter.run(peers.region(), output, inputs, root);
    } else {
      messages.unstriped().scatter(peers, output, inputs, root);
    }
  }

  /** Sends each rank an equal part. */
  public void allToAll(Peers peers, HostTensor output, HostTensor input) {
    Chunks outputs = Chunks.equal(output, peers.size());
    Chunks inputs = Chunks.equal(input, peers.size());
    SharedSlots slots = peers.slots();
    if (slots != null) {
      slotCollectives.allToAll(slots, outputs, inputs);
      return;
    }
    SharedRegion region = peers.regionFor(inputs.all());
    if (region != null) {
      sharedAllToAll.run(region, outputs, inputs);
    } else if (!hierarchical.allToAll(peers, outputs, inputs)) {
      messages.allToAll(peers, outputs, inputs);
    }
  }

  /** Sends each rank its part; parts may differ in size. */
  public void allToAll(Peers peers, List<HostTensor> outputs, List<HostTensor> inputs) {
    SharedRegion region = peers.regionFor(inputs);
    if (region != null) {
      sharedAllToAll.run(region, Chunks.ofParts(outputs), Chunks.ofParts(inputs));
    } else {
      // Which way is faster would depend on sizes of which a rank knows only its own.
      messages.unstriped().allToAll(peers, Chunks.ofParts(outputs), Chunks.ofParts(inputs));
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
    } else if (!hierarchical.broadcast(peers, tensor, root)) {
      messages.broadcast(peers, tensor, root);
    }
  }

  /** Returns when all ranks have called it. */
  public void barrier(Peers peers) {
    SharedSlots slots = peers.slots();
    if (slots != null) {
      slotCollectives.barrier(slots);
    } else if (peers.region() != null) {
      sharedBarrier.run(peers.region());
    } else if (!hierarchical.barrier(peers)) {
      messages.unstriped().barrier(peers);
    }
  }
}
