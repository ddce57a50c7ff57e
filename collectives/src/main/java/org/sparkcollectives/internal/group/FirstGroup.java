package org.sparkcollectives.internal.group;

import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.BackendConfig;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.internal.engine.CollectiveNode;
import org.sparkcollectives.internal.engine.NodeOptions;
import org.sparkcollectives.internal.rendezvous.AgreedSettings;
import org.sparkcollectives.internal.rendezvous.GroupRendezvous;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;
import org.sparkcollectives.internal.transport.shm.HostIdentity;
import org.sparkcollectives.internal.transport.shm.SharedRing;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.spi.LogContext;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConnectionException;

/** Makes this rank's part of a group that comes from no other: finds the other ranks in a store. */
final class FirstGroup {

  private static final Logger LOG = LoggerFactory.getLogger(FirstGroup.class);

  private FirstGroup() {}

  /** Returns the deadline for making a group, over a store of this timeout. */
  static Deadline limit(Duration ofStore, GroupOptions options, RankContext context) {
    Duration ofGroup =
        options
            .timeout()
            .orElseGet(() -> context.configuration().get(CollectivesConfiguration.TIMEOUT));
    return Deadline.after(Deadline.smaller(ofStore, ofGroup));
  }

  /** Refuses a rank that there is not, and options that are for groups made from another. */
  static void requireRank(int rank, int size, GroupOptions options) {
    if (size < 1 || rank < 0 || rank >= size) {
      throw new IllegalArgumentException(
          "The rank must be 0 to size - 1, but is " + rank + " of " + size);
    }
    if (options.ranks().length > 0 || options.localSynchronization()) {
      throw new IllegalArgumentException(
          "Rank "
              + rank
              + " makes a first group, of all "
              + size
              + " ranks: members and local synchronisation are for groups made from it, see"
              + " ProcessGroup.newGroup");
    }
  }

  /**
   * Makes this rank's part of a group, in a call that has begun already.
   *
   * @param assembly of this group and those made from it
   * @param store in which the ranks meet
   * @param deadline by which the ranks are to have met
   */
  static RankGroup make(
      Subgroups.Assembly assembly,
      Store store,
      int rank,
      int size,
      GroupOptions options,
      Deadline deadline,
      Runnable afterClose) {
    RankContext context = assembly.context();
    requireRank(rank, size, options);
    GroupOptions resolved = ResolvedOptions.resolve(options, context.configuration());
    String name =
        options.name().isEmpty() ? nextName(deadline.bound(store), rank, size) : options.name();
    Membership.requireName(name);
    boolean needsPeers = Backends.needPeers(BackendConfig.parse(resolved.backend().orElseThrow()));
    Path folder = Path.of(context.configuration().get(CollectivesConfiguration.SHM_FOLDER));
    String obstacle = needsPeers && size > 1 ? SharedRing.obstacle(folder) : "";
    CollectiveNode node = CollectiveNode.acquire(NodeOptions.of(context));
    boolean created = false;
    try {
      Endpoint self =
          new Endpoint(
              rank,
              new NodeAddress(
                  node.id(),
                  new Place(
                      HostIdentity.current(),
                      Runtime.getRuntime().availableProcessors(),
                      obstacle.isEmpty(),
                      needsPeers && size > 1 ? context.rack(deadline) : ""),
                  node.tcp().address().getHostString(),
                  node.tcp().address().getPort(),
                  context.executorId()),
              context.taskAttemptId());
      Membership members =
          needsPeers
              ? new GroupRendezvous(
                      store.withPrefix(name),
                      deadline,
                      name,
                      size,
                      AgreedSettings.of(size, resolved, context, assembly.costs().toString()),
                      context)
                  .join(self, options.description())
              : Membership.withoutPeers(name, options.description(), self, size);
      if (!obstacle.isEmpty() && resolved.transports().contains("shm") && members.hasNeighbours()) {
        LogContext.of(members.identity())
            .run(
                () ->
                    LOG.info("No shared memory in {}: messages go over TCP: {}", folder, obstacle));
      }
      RankGroup group = assembly.assemble(node, members, resolved, null, null, afterClose);
      created = true;
      return group;
    } finally {
      if (!created) {
        node.release();
      }
    }
  }

  /**
   * Returns the name of a group without one: the n-th that a rank makes over a store is the n-th of
   * every rank.
   */
  private static String nextName(Store store, int rank, int size) {
    try {
      return "group-" + store.add("group-counter/" + rank, 1);
    } catch (StoreConnectionException e) {
      throw new StoreConnectionException(
          "The rendezvous failed on rank "
              + rank
              + ", because its store cannot be reached, so which of the "
              + size
              + " ranks are missing is not known: "
              + e.getMessage(),
          e);
    }
  }
}
