package org.sparkcollectives.algorithm;

import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Hierarchy;
import org.sparkcollectives.transport.Locality;
import org.sparkcollectives.transport.Peers;
import org.sparkcollectives.transport.Reach;

/**
 * The algorithms that work inside places first, and whether they are predicted to take less time
 * than messages between all ranks. Each runs an operation, or says that it has not.
 *
 * <p>An operation whose parts belong to ranks is hierarchical only where a place is a JVM: between
 * JVMs its parts would be copied twice more than they are saved.
 */
final class HierarchicalAlgorithms {

  /** How often what is put aside passes through memory: it is written and read. */
  private static final int SCRATCH = 2;

  private final MessageAlgorithms messages;
  private final PathCosts costs;
  private final HierarchicalAllReduce allReduce;
  private final HierarchicalReduce reduce;
  private final HierarchicalReduceScatter reduceScatter;
  private final HierarchicalAllGather allGather;
  private final HierarchicalAllToAll allToAll;
  private final HierarchicalBroadcast broadcast;
  private final HierarchicalBarrier barrier;

  /**
   * Over what carries out phases.
   *
   * @param messages what is compared with
   */
  HierarchicalAlgorithms(AlgorithmSelector phases, MessageAlgorithms messages, PathCosts costs) {
    this.messages = messages;
    this.costs = costs;
    Scratch scratch = new Scratch();
    this.allReduce = new HierarchicalAllReduce(phases, scratch);
    this.reduce = new HierarchicalReduce(phases, scratch);
    this.reduceScatter = new HierarchicalReduceScatter(phases, scratch);
    this.allGather = new HierarchicalAllGather(phases);
    this.allToAll = new HierarchicalAllToAll(phases, scratch);
    this.broadcast = new HierarchicalBroadcast(phases);
    this.barrier = new HierarchicalBarrier(phases);
  }

  boolean allReduce(Peers peers, HostTensor tensor, ReduceOp op, ReduceKernel kernel) {
    Hierarchy hierarchy = peers.hierarchy();
    if (hierarchy == null) {
      return false;
    }
    Locality locality = hierarchy.locality();
    long bytes = tensor.byteSize();
    long slice = bytes / Slices.count(locality, bytes);
    ReduceKernel sums = ofAccumulators(op, kernel);
    double seconds =
        messages.allReduceSeconds(
            peers.reach(), locality.places(), accumulated(slice, kernel), sums);
    if (isInMemory(hierarchy)) {
      seconds += inMemory(3, locality.largest() * slice + bytes - slice);
    } else {
      seconds += messages.reduceScatterSeconds(Reach.HOST, locality.largest(), bytes, kernel);
      seconds += messages.allGatherSeconds(Reach.HOST, locality.largest(), bytes, false);
    }
    if (seconds >= messages.allReduceSeconds(peers.reach(), peers.size(), bytes, kernel)) {
      return false;
    }
    allReduce.run(hierarchy, peers.size(), tensor, op);
    return true;
  }

  boolean reduce(Peers peers, HostTensor tensor, int root, ReduceOp op, ReduceKernel kernel) {
    Hierarchy hierarchy = peers.hierarchy();
    if (hierarchy == null) {
      return false;
    }
    Locality locality = hierarchy.locality();
    long bytes = tensor.byteSize();
    long slice = bytes / Slices.count(locality, bytes);
    ReduceKernel sums = ofAccumulators(op, kernel);
    double seconds =
        messages.reduceSeconds(peers.reach(), locality.places(), accumulated(slice, kernel), sums);
    if (isInMemory(hierarchy)) {
      seconds += inMemory(3, (locality.largest() + SCRATCH) * slice + bytes - slice);
    } else {
      seconds += messages.reduceScatterSeconds(Reach.HOST, locality.largest(), bytes, kernel);
      seconds += messages.scatterSeconds(Reach.HOST, locality.largest(), bytes);
    }
    if (seconds >= messages.reduceSeconds(peers.reach(), peers.size(), bytes, kernel)) {
      return false;
    }
    HostTensor multiplied = tensor;
    if (AlgorithmSelector.multiplies(op)) {
      multiplied = HostTensor.allocate(tensor.dtype(), tensor.count());
      multiplied.copyFrom(0, tensor, 0, tensor.count());
      kernel.premultiply(multiplied, 0, multiplied.count());
    }
    reduce.run(hierarchy, peers, tensor, multiplied, root, op);
    return true;
  }

  boolean reduceScatter(
      Peers peers, HostTensor output, Chunks input, ReduceOp op, ReduceKernel kernel) {
    Hierarchy hierarchy = peers.hierarchy();
    if (hierarchy == null || !isInMemory(hierarchy)) {
      return false;
    }
    Locality locality = hierarchy.locality();
    long bytes = input.bytes();
    int rounds = Rounds.of(hierarchy).count();
    // Of what one round carries.
    long carried = bytes / locality.smallest() / rounds;
    double seconds =
        rounds
                * messages.reduceScatterSeconds(
                    peers.reach(),
                    locality.places(),
                    accumulated(carried, kernel),
                    ofAccumulators(op, kernel))
            + inMemory(2 + rounds - 1, rounds * carried * (locality.largest() + SCRATCH));
    if (seconds >= messages.reduceScatterSeconds(peers.reach(), peers.size(), bytes, kernel)) {
      return false;
    }
    Chunks multiplied = AlgorithmSelector.multiplies(op) ? input.premultiplied(kernel) : input;
    reduceScatter.run(hierarchy, output, multiplied, op);
    return true;
  }

  boolean allGather(Peers peers, Chunks outputs, HostTensor input) {
    Hierarchy hierarchy = peers.hierarchy();
    if (hierarchy == null || !isInMemory(hierarchy)) {
      return false;
    }
    Locality locality = hierarchy.locality();
    long bytes = outputs.bytes();
    boolean equal = outputs.areEqual();
    int rounds = Rounds.of(hierarchy).count();
    long carried = bytes / locality.smallest() / rounds;
    double seconds =
        rounds * messages.allGatherSeconds(peers.reach(), locality.places(), carried, equal)
            + inMemory(2 + rounds - 1, bytes - carried);
    if (seconds >= messages.allGatherSeconds(peers.reach(), peers.size(), bytes, equal)) {
      return false;
    }
    allGather.run(hierarchy, outputs, input);
    return true;
  }

  /** Sends equal parts. */
  boolean allToAll(Peers peers, Chunks outputs, Chunks inputs) {
    Hierarchy hierarchy = peers.hierarchy();
    if (hierarchy == null || !isInMemory(hierarchy)) {
      return false;
    }
    Locality locality = hierarchy.locality();
    long bytes = inputs.bytes();
    int rounds = Rounds.of(hierarchy).count();
    double seconds =
        rounds * messages.allToAllSeconds(peers.reach(), locality.places(), bytes)
            + inMemory(2 + rounds - 1, (1 + SCRATCH) * bytes * rounds);
    if (seconds >= messages.allToAllSeconds(peers.reach(), peers.size(), bytes)) {
      return false;
    }
    allToAll.run(hierarchy, outputs, inputs);
    return true;
  }

  boolean broadcast(Peers peers, HostTensor tensor, int root) {
    Hierarchy hierarchy = peers.hierarchy();
    if (hierarchy == null) {
      return false;
    }
    Locality locality = hierarchy.locality();
    long bytes = tensor.byteSize();
    int slices = Slices.count(locality, bytes);
    long slice = bytes / slices;
    double seconds = messages.broadcastSeconds(peers.reach(), locality.places(), slice);
    if (isInMemory(hierarchy)) {
      seconds += slices == 1 ? inMemory(2, bytes) : inMemory(3, slice + bytes);
    } else {
      seconds += messages.scatterSeconds(Reach.HOST, locality.largest(), slices == 1 ? 0 : bytes);
      seconds += messages.broadcastSeconds(Reach.HOST, locality.largest(), bytes);
    }
    if (seconds >= messages.broadcastSeconds(peers.reach(), peers.size(), bytes)) {
      return false;
    }
    broadcast.run(hierarchy, peers.rank(), tensor, root);
    return true;
  }

  boolean barrier(Peers peers) {
    Hierarchy hierarchy = peers.hierarchy();
    if (hierarchy == null) {
      return false;
    }
    Locality locality = hierarchy.locality();
    double inside =
        isInMemory(hierarchy)
            ? inMemory(1, 0)
            : messages.barrierSeconds(Reach.HOST, locality.largest());
    double seconds = 2 * inside + messages.barrierSeconds(peers.reach(), locality.places());
    if (seconds >= messages.barrierSeconds(peers.reach(), peers.size())) {
      return false;
    }
    barrier.run(hierarchy);
    return true;
  }

  private static boolean isInMemory(Hierarchy hierarchy) {
    return hierarchy.inside().region() != null;
  }

  private double inMemory(int waits, long bytes) {
    return costs.jvm().seconds(new Cost(waits, 0, bytes));
  }

  private static ReduceKernel ofAccumulators(ReduceOp op, ReduceKernel kernel) {
    return ReduceKernel.of(PartialReduction.ofAccumulators(op), kernel.accumulatorType());
  }

  /** The size of the accumulators of so many bytes. */
  private static long accumulated(long bytes, ReduceKernel kernel) {
    return bytes / kernel.inputType().bytes() * kernel.accumulatorType().bytes();
  }
}
