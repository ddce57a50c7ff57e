package org.sparkcollectives.engine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.sparkcollectives.CollectivesConfiguration;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.RankContext;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.transport.Endpoint;
import org.sparkcollectives.transport.EventCount;
import org.sparkcollectives.transport.Progress;
import org.sparkcollectives.watchdog.Watchdog;

/** Puts a rank's group together. */
public final class GroupCreation {

  private static final int SPINS = 200;

  private GroupCreation() {}

  /**
   * See {@link org.sparkcollectives.ProcessGroups#create}.
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
    if (size < 1 || rank < 0 || rank >= size) {
      throw new IllegalArgumentException(
          "The rank must be 0 to size - 1, but is " + rank + " of " + size);
    }
    Configuration configuration = context.configuration();
    Duration timeout =
        options.timeout() == null
            ? configuration.get(CollectivesConfiguration.TIMEOUT)
            : options.timeout();
    String name = options.name().isEmpty() ? nextName(store, rank) : options.name();
    Store groupStore = store.withPrefix(name);
    CollectiveNode node = CollectiveNode.acquire(NodeOptions.of(context));
    boolean created = false;
    try {
      Endpoint self =
          new Endpoint(
              rank,
              node.id(),
              hostId(),
              node.tcp().address().getHostString(),
              node.tcp().address().getPort(),
              context.executorId(),
              context.taskAttemptId());
      Membership members =
          new GroupRendezvous(groupStore, name, options.description(), size, context).join(self);
      RankGroup group =
          assemble(
              node,
              members,
              groupStore,
              transports(options, configuration),
              configuration,
              context,
              afterClose);
      created = true;
      return RankProcessGroup.owning(group, timeout);
    } finally {
      if (!created) {
        node.release();
      }
    }
  }

  private static RankGroup assemble(
      CollectiveNode node,
      Membership members,
      Store groupStore,
      List<String> transports,
      Configuration configuration,
      RankContext context,
      Runnable afterClose) {
    int rank = members.rank();
    int size = members.size();
    if (!transports.contains("tcp") && !members.isOneNode()) {
      throw new IllegalArgumentException(
          "Group \""
              + members.name()
              + "\" has ranks in several JVMs, which only the transport tcp connects, but is allowed "
              + transports
              + " only: "
              + members.places());
    }
    CollectiveNode.LocalGroup local = node.join(members.name(), size);
    GroupLife life =
        new GroupLife(
            members,
            groupStore,
            context,
            node.executor(),
            configuration.get(CollectivesConfiguration.FLIGHT_RECORDER_SIZE));
    Progress progress = new Progress(new EventCount(SPINS), life.failure());
    life.failure().onFailure(progress::signal);
    Channel channel = new Channel(node.executor());
    life.reportsProgressOf(channel::progress);
    GroupPaths paths =
        new GroupPaths(members, node, local, life, progress, transports.contains("heap"));
    paths.open();
    NettyBackend backend =
        new NettyBackend(
            life,
            channel,
            paths.lane(),
            new RankMessages(local.matchers().of(rank), size, paths::messagesTo),
            () -> {
              paths.close();
              node.leave(members.name());
            });
    Watchdog.Watched look =
        () -> {
          life.look();
          channel.runNeglected();
        };
    node.watchdog().watch(look);
    return new RankGroup(
        members,
        life,
        backend,
        channel,
        groupStore,
        () -> {
          node.watchdog().forget(look);
          node.release();
          afterClose.run();
        });
  }

  /** The n-th group without a name that a rank makes over a store is the n-th of every rank. */
  private static String nextName(Store store, int rank) {
    return "group-" + store.add("group-counter/" + rank, 1);
  }

  private static List<String> transports(GroupOptions options, Configuration configuration) {
    return options.transports().isEmpty()
        ? configuration.get(CollectivesConfiguration.TRANSPORTS)
        : options.transports();
  }

  /**
   * The kernel's boot id where there is one: containers of one machine share it, machines never.
   */
  private static String hostId() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/random/boot_id"), StandardCharsets.US_ASCII)
          .strip();
    } catch (IOException e) {
      return "";
    }
  }
}
