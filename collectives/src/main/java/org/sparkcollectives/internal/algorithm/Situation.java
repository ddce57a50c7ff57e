package org.sparkcollectives.internal.algorithm;

import java.util.Optional;
import org.sparkcollectives.internal.transport.GroupMemory.Access;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.Reach;

/**
 * The facts on which the choice of an algorithm depends, alike on all ranks.
 *
 * @param costs of each kind of path
 * @param reach how far the ranks are from each other
 * @param ranks how many there are; 2 at the least, as algorithms of a single rank cost nothing
 * @param access how the operation can use memory that all of them see
 * @param hierarchy how they are divided in nodes
 * @param racks in which rack each is, where some share one, and not all
 * @param shape of the call
 */
record Situation(
    PathCosts costs,
    Reach reach,
    int ranks,
    Access access,
    Optional<Hierarchy> hierarchy,
    Optional<Locality> racks,
    Shape shape) {

  /** The number of times that scratch data passes through memory: it is written and read. */
  static final int SCRATCH = 2;

  /** Returns the situation of a call of these ranks. */
  static Situation of(PathCosts costs, Peers peers, Access access, Shape shape) {
    return new Situation(
        costs,
        peers.reach(),
        Math.max(2, peers.size()),
        access,
        peers.hierarchy(),
        peers.racks(),
        shape);
  }

  /** Returns the situation of ranks that can only send each other messages. */
  static Situation ofMessages(PathCosts costs, Reach reach, int ranks, Shape shape) {
    return ofMessages(costs, reach, ranks, Optional.empty(), shape);
  }

  private static Situation ofMessages(
      PathCosts costs, Reach reach, int ranks, Optional<Locality> racks, Shape shape) {
    return new Situation(
        costs, reach, Math.max(2, ranks), Access.NONE, Optional.empty(), racks, shape);
  }

  /** Returns the costs of the path between the ranks. */
  CostModel model() {
    return costs.of(reach);
  }

  /** Predicts the seconds of an algorithm that sends messages between the ranks. */
  double seconds(MessageAlgorithm<?> algorithm) {
    return racks.isPresent()
        ? costs.seconds(algorithm, shape, racks.get())
        : model().seconds(algorithm.cost(ranks, shape));
  }

  /** Returns which ranks are in one node. */
  Locality locality() {
    return hierarchy.orElseThrow().locality();
  }

  /** Returns whether the ranks of a node see each other's heap; else they send messages. */
  boolean sharesHeap() {
    return hierarchy.filter(Hierarchy::sharesHeap).isPresent();
  }

  /** Predicts the seconds of a phase of one rank of each node. */
  double interNode(AlgorithmRows<?> phase, Shape call) {
    Optional<Locality> crossNodeRacks = hierarchy.orElseThrow().crossNodeRacks();
    return phase.messageSeconds(ofMessages(costs, reach, locality().nodes(), crossNodeRacks, call));
  }

  /**
   * Predicts the same for ranks that share the uplink of their rack.
   *
   * @param share how many times as much of it a slice of the tensor has as a rank if all ranks
   *     send; only racks have an uplink
   */
  double interNode(AlgorithmRows<?> phase, Shape call, double share) {
    if (!isOfRacks()) {
      return interNode(phase, call);
    }
    PathCosts shared = costs.outOfRack(share);
    return phase.messageSeconds(ofMessages(shared, reach, locality().nodes(), call));
  }

  /** Predicts the seconds of a phase of the ranks of the largest node, by messages. */
  double intraNode(AlgorithmRows<?> phase, Shape call) {
    Reach within = hierarchy.orElseThrow().within();
    return phase.messageSeconds(ofMessages(costs, within, locality().largest(), call));
  }

  /** Returns whether the nodes are racks. */
  boolean isOfRacks() {
    return hierarchy.orElseThrow().isOfRacks();
  }

  /**
   * Predicts the seconds of a phase of the ranks of the largest node, by messages, in which the
   * tensor is in slices.
   */
  double intraNode(AlgorithmRows<?> phase, Shape call, int slices) {
    // In a rack it counts that slices are larger than the parts of all ranks would be.
    return isOfRacks()
        ? intraNode(phase, call.withBytes(call.bytes() * locality().largest() / slices))
        : intraNode(phase, call);
  }

  /** Predicts the seconds in which a root sends, or takes, the slices of the ranks of its rack. */
  double intraRack(long bytes) {
    return costs.network().seconds(new Cost(1, locality().largest() - 1, bytes));
  }

  /** Predicts the seconds of waits for all ranks of a JVM, and of bytes moved in its heap. */
  double inHeap(int waits, long bytes) {
    return costs.jvm().seconds(new Cost(waits, 0, bytes));
  }
}
