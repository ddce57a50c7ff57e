package org.sparkcollectives.internal.liveness;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.config.TimeString;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.store.Store;

/**
 * Sends the heartbeats of one rank's JVM, and says what their absence in another means for the
 * rank's groups: those with a rank in the unresponsive JVM fail, the others go on.
 *
 * <p>The JVMs of the first group send heartbeats for all groups made from it, also when it has
 * failed.
 */
public final class RankHeartbeat implements Heartbeat.Listener, AutoCloseable {

  /** A group of the rank, which is told what the absence of heartbeats means for it. */
  public interface Group {

    /** Returns who is in the group. */
    Membership members();

    /** Called if the process of a rank of the group sends no heartbeat. Must not block. */
    void unresponsive(int groupRank, String cause);

    /**
     * Called if nothing was heard of the store for longer than {@code patience}. Must not block.
     */
    void storeUnresponsive(Duration patience, String cause);
  }

  private final Membership world;
  private final Locality nodes;
  private final HeartbeatOptions options;
  private final Set<Group> groups = ConcurrentHashMap.newKeySet();

  /** The cause in the errors of ranks in unresponsive JVMs, by the JVM's id. */
  private final Map<String, String> unresponsive = new ConcurrentHashMap<>();

  /** Null if there are no other JVMs. */
  private final Heartbeat heartbeat;

  /**
   * Creates the heartbeat of a rank, and starts to send heartbeats and to listen to those of other
   * JVMs, if there are any.
   *
   * @param peers whether the group's other ranks exist at all
   * @param election the group's in this JVM
   */
  public RankHeartbeat(
      Membership world, Store store, boolean peers, HeartbeatElection election, RankHost host) {
    Configuration configuration = host.context().configuration();
    this.world = world;
    this.nodes = world.nodes();
    this.options =
        new HeartbeatOptions(configuration.get(CollectivesConfiguration.HEARTBEAT_TIMEOUT));
    Heartbeat.Position position =
        new Heartbeat.Position(nodes.node(world.rank()), nodes.nodes(), election);
    this.heartbeat =
        peers && options.isOn() && !world.isOneNode()
            ? new Heartbeat(store, position, options, this, host)
            : null;
  }

  /** Adds a group, and tells it what is known already. */
  public void join(Group group) {
    groups.add(group);
    unresponsive.forEach((nodeId, cause) -> report(group, nodeId, cause));
  }

  /** Removes a group. */
  public void leave(Group group) {
    groups.remove(group);
  }

  /** Returns whether nothing was heard of the store for longer than the heartbeat timeout. */
  public boolean isStoreUnresponsive() {
    return heartbeat != null && heartbeat.isStoreUnresponsive();
  }

  /** Sends and checks heartbeats if that is due. Called by the watchdog; does not block. */
  public void poll() {
    if (heartbeat != null) {
      heartbeat.poll();
    }
  }

  @Override
  public void unresponsive(int node, Duration age) {
    String nodeId = world.endpoints().get(nodes.rank(node, 0)).nodeId();
    String cause =
        "its process has sent no heartbeat for "
            + text(age)
            + ": it hangs (stopped, or collecting garbage), or is cut off from the others."
            + " spark.collectives.heartbeat.timeout is "
            + text(options.timeout());
    unresponsive.put(nodeId, cause);
    groups.forEach(group -> report(group, nodeId, cause));
  }

  private static void report(Group group, String nodeId, String cause) {
    Membership members = group.members();
    for (int rank = 0; rank < members.size(); rank++) {
      if (members.endpoints().get(rank).nodeId().equals(nodeId)) {
        group.unresponsive(rank, cause);
        return;
      }
    }
  }

  @Override
  public void storeUnresponsive(Duration age) {
    String cause =
        "nothing has been heard of the group's store for "
            + text(age)
            + ", and the operation has waited for longer than that: either this process is cut off"
            + " from the others, or the one that serves the store hangs."
            + " spark.collectives.heartbeat.timeout is "
            + text(options.timeout());
    groups.forEach(group -> group.storeUnresponsive(options.timeout(), cause));
  }

  private static String text(Duration duration) {
    return TimeString.format(Duration.ofMillis(duration.toMillis()));
  }

  @Override
  public void close() {
    if (heartbeat != null) {
      heartbeat.close();
    }
  }
}
