package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Reach;

/**
 * The costs of each kind of path; they must be the same on all ranks.
 *
 * @param jvm in the heap of a JVM: a wait for all ranks of it, and the bytes a second that a rank
 *     moves in memory
 * @param host among JVMs that share a host's memory
 * @param network among all others
 */
public record PathCosts(CostModel jvm, CostModel host, CostModel network) {

  /** Returns the model of ranks at this distance from each other. */
  CostModel of(Reach reach) {
    return switch (reach) {
      case JVM -> jvm;
      case HOST -> host;
      case NETWORK -> network;
    };
  }
}
