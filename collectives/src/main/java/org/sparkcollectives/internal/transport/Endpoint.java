package org.sparkcollectives.internal.transport;

import org.sparkcollectives.RankLocation;

/**
 * The place and address of a rank, as it publishes them to the other ranks through the store.
 *
 * @param rank the rank in the world group of its Spark stage or of its processes
 * @param node the rank's JVM
 * @param taskAttemptId the Spark task attempt, or -1
 */
public record Endpoint(int rank, NodeAddress node, long taskAttemptId) {

  /** Returns the id of the rank's JVM. */
  public String nodeId() {
    return node.id();
  }

  /** Returns the address that peers connect to. */
  public String host() {
    return node.host();
  }

  /** Returns the port that peers connect to. */
  public int port() {
    return node.port();
  }

  /** Returns the Spark executor, or a name for the process. */
  public String executorId() {
    return node.executorId();
  }

  /** Returns whether both are where JVMs can share memory, as far as the operating system tells. */
  public boolean sharesHostWith(Endpoint other) {
    return node.sharesHostWith(other.node);
  }

  /** Returns where the rank is, as failures and dumps name it. */
  public RankLocation location() {
    return locationOf(rank);
  }

  /** Returns the same for a group in which it has another rank. */
  public RankLocation locationOf(int groupRank) {
    return new RankLocation(groupRank, node.host(), node.executorId(), taskAttemptId);
  }

  /** Returns the rank and where it is, as messages have it. */
  public String describe() {
    return location().describe();
  }
}
