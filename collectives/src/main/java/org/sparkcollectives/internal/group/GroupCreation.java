package org.sparkcollectives.internal.group;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.BackendConfig;
import org.sparkcollectives.CollectivesConfiguration;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.RendezvousHandler;
import org.sparkcollectives.config.Configuration;
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
import org.sparkcollectives.spi.LogContext;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConfiguration;
import org.sparkcollectives.store.StoreConnectionException;

/** Makes the first group of a rank: finds the others, then assembles this rank's part. */
public final class GroupCreation {

  private static final Logger LOG = LoggerFactory.getLogger(GroupCreation.class);

  private GroupCreation() {}

  /**
   * Makes the first group of a rank, see {@link org.sparkcollectives.ProcessGroups#create}.
   *
   * @param afterClose run when the group is closed
   */
  public static ProcessGroup create(
      Store store,
      int rank,
      int size,
      GroupOptions options,
      RankContext context,
      Runnable afterClose) {
    return create(
        store, rank, size, options, context, limit(store.timeout(), options, context), afterClose);
  }

  /** Makes the first group of a rank, see {@link org.sparkcollectives.Rendezvous#join}. */
  public static ProcessGroup join(URI url, RendezvousHandler handler, GroupOptions options) {
    Duration ofStore = Configuration.ofSystemProperties().get(StoreConfiguration.TIMEOUT);
    Deadline deadline = limit(ofStore, options, RankContext.process());
    RendezvousHandler.Meeting meeting = handler.open(url, deadline.left());
    try {
      return create(
          meeting.store(),
          meeting.rank(),
          meeting.size(),
          options,
          RankContext.process(meeting.bindHost()),
          deadline,
          meeting.onClose());
    } catch (RuntimeException e) {
      handler.failed(meeting, e);
      throw e;
    } catch (Error e) {
      handler.failed(meeting, new IllegalStateException(e));
      throw e;
    }
  }

  /** Returns the deadline for making a group, over a store of this timeout. */
  private static Deadline limit(Duration ofStore, GroupOptions options, RankContext context) {
    Duration ofGroup =
        options
            .timeout()
            .orElseGet(() -> context.configuration().get(CollectivesConfiguration.TIMEOUT));
    return Deadline.after(Deadline.smaller(ofStore, ofGroup));
  }

  /**
   * Makes the first group of a rank, in a call that has begun already.
   *
   * @param deadline by which the ranks are to have met
   */
  private static ProcessGroup create(
      Store store,
      int rank,
      int size,
      GroupOptions options,
      RankContext context,
      Deadline deadline,
      Runnable afterClose) {
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
    GroupAssembly assembly = new GroupAssembly(store, context, "");
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
                      obstacle.isEmpty()),
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
                      AgreedSettings.of(size, resolved, context.configuration()),
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
      return RankProcessGroup.owning(group);
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
