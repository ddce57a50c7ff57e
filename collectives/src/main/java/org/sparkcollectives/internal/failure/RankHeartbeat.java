package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.sparkcollectives.CollectivesConfiguration;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.config.TimeString;
import org.sparkcollectives.membership.Membership;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.transport.Locality;

/**
 * The signs of life of one rank's JVM, and what their absence in another means for the rank's
 * groups: those with a rank in the silent JVM fail, the others go on.
 *
 * <p>The JVMs of the first group give signs for all groups made from it, also when it has failed.
 */
public final class RankHeartbeat implements Heartbeat.Listener, AutoCloseable {

  private final Membership world;
  private final Locality nodes;
  private final HeartbeatOptions options;
  private final Set<GroupLife> lives = ConcurrentHashMap.newKeySet();

  /** What is to be said of ranks in silent JVMs, by the JVM's id. */
  private final Map<String, String> silent = new ConcurrentHashMap<>();

  private final Heartbeat heartbeat;

  private RankHeartbeat(
      Membership world,
      Store store,
      boolean needed,
      HeartbeatOptions options,
      HeartbeatTurn turn,
      Executor executor) {
    this.world = world;
    this.nodes = world.nodes();
    this.options = options;
    this.heartbeat =
        needed
            ? new Heartbeat(
                store,
                nodes.place(world.rank()),
                nodes.places(),
                options,
                turn,
                this,
                executor,
                System::nanoTime)
            : null;
  }

  /**
   * Begins to give signs of life, and to listen to those of others, if there are other JVMs.
   *
   * @param peers whether the group's other ranks exist at all
   * @param turn the group's in this JVM
   */
  public static RankHeartbeat of(
      Membership world,
      Store store,
      boolean peers,
      Configuration configuration,
      HeartbeatTurn turn,
      Executor executor) {
    HeartbeatOptions options =
        new HeartbeatOptions(
            configuration.get(CollectivesConfiguration.HEARTBEAT_INTERVAL),
            configuration.get(CollectivesConfiguration.HEARTBEAT_TIMEOUT));
    boolean needed = peers && options.isOn() && !world.isOneNode();
    return new RankHeartbeat(world, store, needed, options, turn, executor);
  }

  void join(GroupLife life) {
    lives.add(life);
    silent.forEach((nodeId, cause) -> tell(life, nodeId, cause));
  }

  void leave(GroupLife life) {
    lives.remove(life);
  }

  boolean isStoreSilent() {
    return heartbeat != null && heartbeat.isStoreSilent();
  }

  /** Called by the watchdog; does not block. */
  void look() {
    if (heartbeat != null) {
      heartbeat.look();
    }
  }

  @Override
  public void silent(int node, Duration silence) {
    String nodeId = world.endpoints().get(nodes.rank(node, 0)).nodeId();
    String cause =
        "its process has given no sign of life for "
            + text(silence)
            + ": it stands still (stopped, or collecting garbage), or is cut off from the others."
            + " spark.collectives.heartbeat.timeout is "
            + text(options.timeout());
    silent.put(nodeId, cause);
    lives.forEach(life -> tell(life, nodeId, cause));
  }

  private static void tell(GroupLife life, String nodeId, String cause) {
    Membership members = life.members();
    for (int rank = 0; rank < members.size(); rank++) {
      if (members.endpoints().get(rank).nodeId().equals(nodeId)) {
        life.reports().silent(rank, cause);
        return;
      }
    }
  }

  @Override
  public void storeSilent(Duration silence) {
    String cause =
        "nothing has been heard of the group's store for "
            + text(silence)
            + ", and the operation has waited for longer than that: either this process is cut off"
            + " from the others, or the one that serves the store stands still."
            + " spark.collectives.heartbeat.timeout is "
            + text(options.timeout());
    lives.forEach(life -> life.storeSilent(options.timeout(), cause));
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
