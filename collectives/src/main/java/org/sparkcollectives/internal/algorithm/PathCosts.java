package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Reach;

/**
 * The costs of each kind of path; they must be the same on all ranks.
 *
 * @param jvm in the heap of a JVM: a wait for all ranks of it, and the bytes a second that a rank
 *     moves in memory
 * @param host among JVMs that share a host's memory
 * @param network among all others
 * @param racks between racks, while all ranks of a rack send to others
 */
public record PathCosts(CostModel jvm, CostModel host, CostModel network, CostModel racks) {

  /** Creates costs that are the same between racks as in one. */
  public PathCosts(CostModel jvm, CostModel host, CostModel network) {
    this(jvm, host, network, network);
  }

  /** Returns the model of ranks at this distance from each other. */
  CostModel of(Reach reach) {
    return switch (reach) {
      case JVM -> jvm;
      case HOST -> host;
      case NETWORK -> network;
      case RACKS -> racks;
    };
  }

  /**
   * Returns the costs where a rank has more of the uplink of its rack than if all its ranks send.
   *
   * @param share how many times as much
   */
  PathCosts outOfRack(double share) {
    double bandwidth = Math.min(network.bandwidth(), racks.bandwidth() * share);
    CostModel shared =
        new CostModel(racks.latency(), racks.overhead(), bandwidth, racks.largestMesh());
    return new PathCosts(jvm, host, network, shared);
  }

  /** Predicts the seconds of an algorithm whose ranks are in racks, and in the order of these. */
  double seconds(MessageAlgorithm<?> algorithm, Shape shape, Locality byRack) {
    double oversubscription = Math.max(1, network.bandwidth() / racks.bandwidth());
    Crossing most =
        algorithm.crossing(RackShape.of(byRack, byRack.largest(), oversubscription), shape);
    Crossing least =
        algorithm.crossing(RackShape.of(byRack, byRack.smallest(), oversubscription), shape);
    return network.seconds(algorithm.cost(byRack.size(), shape))
        + Math.max(most.delay(), least.delay()) / network.bandwidth()
        + most.steps() * Math.max(0, racks.latency() - network.latency());
  }
}
