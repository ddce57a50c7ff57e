package org.sparkcollectives.internal.group;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.BackendConfig;
import org.sparkcollectives.DebugLevel;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.GroupStatistics.Paths;
import org.sparkcollectives.internal.algorithm.AlgorithmSelector;
import org.sparkcollectives.internal.algorithm.CostProfile;
import org.sparkcollectives.internal.algorithm.NamedAlgorithms;
import org.sparkcollectives.internal.debug.FingerprintCheck;
import org.sparkcollectives.internal.engine.CallComparison;
import org.sparkcollectives.internal.engine.CollectiveNode;
import org.sparkcollectives.internal.engine.CpuBackend;
import org.sparkcollectives.internal.engine.GroupOperations;
import org.sparkcollectives.internal.engine.GroupPaths;
import org.sparkcollectives.internal.engine.GroupPoll;
import org.sparkcollectives.internal.engine.GroupTransports;
import org.sparkcollectives.internal.engine.OperationQueue;
import org.sparkcollectives.internal.engine.RankMessages;
import org.sparkcollectives.internal.engine.TcpConnections;
import org.sparkcollectives.internal.engine.Waiter;
import org.sparkcollectives.internal.liveness.RankHeartbeat;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.liveness.Watchdog;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.work.GroupMonitor;
import org.sparkcollectives.internal.work.RunAll;
import org.sparkcollectives.spi.LogContext;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.RankTuning;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreLease;

/**
 * Assembles this rank's part of a group, once the members are known.
 *
 * @param store where all groups of this rank keep their keys, each under its name
 * @param context what hosts the rank
 * @param costs by which algorithms are chosen; read once, so that all groups choose alike
 * @param path how the groups made with this came from the rank's first group, which is the same in
 *     each attempt; empty for that one
 */
record GroupAssembly(Store store, RankContext context, CostProfile costs, String path)
    implements Subgroups.Assembly {

  /** How long the paths of a group that could not be made wait for what peers have begun. */
  private static final Duration CLOSE_OF_NEW_PATHS = Duration.ofSeconds(1);

  /** How long the store may take to remove the keys of a group that could not be made. */
  private static final Duration REMOVAL_OF_KEYS = Duration.ofSeconds(1);

  private static final Logger LOG = LoggerFactory.getLogger(GroupAssembly.class);

  @Override
  public GroupAssembly within(String name) {
    return new GroupAssembly(store, context, costs, path + "/" + name);
  }

  @Override
  public RankGroup meet(
      Store other, int rank, int size, GroupOptions options, Runnable afterClose) {
    return FirstGroup.make(
        new GroupAssembly(other, context, costs, path + "/merge-" + options.name()),
        other,
        rank,
        size,
        options,
        FirstGroup.limit(other.timeout(), options, context),
        afterClose);
  }

  @Override
  public Store checkpoints(Deadline deadline) {
    String group = "world" + path;
    return context
        .checkpoints(store, deadline)
        .withPrefix(URLEncoder.encode(group, StandardCharsets.UTF_8));
  }

  @Override
  public RankGroup assemble(
      CollectiveNode node,
      Membership members,
      GroupOptions options,
      GroupMonitor parent,
      GroupOrigin origin,
      Runnable afterClose) {
    return LogContext.of(members.identity())
        .call(() -> assembleLogging(node, members, options, parent, origin, afterClose));
  }

  private RankGroup assembleLogging(
      CollectiveNode node,
      Membership members,
      GroupOptions options,
      GroupMonitor parent,
      GroupOrigin origin,
      Runnable afterClose) {
    requireTransports(members, options.transports());
    Undo undo = new Undo();
    try {
      return assemble(undo, node, members, options, parent, origin, afterClose);
    } catch (RuntimeException | Error e) {
      undo.after(e);
      throw e;
    }
  }

  private RankGroup assemble(
      Undo undo,
      CollectiveNode node,
      Membership members,
      GroupOptions options,
      GroupMonitor parent,
      GroupOrigin origin,
      Runnable afterClose) {
    BackendConfig backendConfig = BackendConfig.parse(options.backend().orElseThrow());
    Store keys = store.withPrefix(members.name());
    StoreLease lease = StoreLease.of(keys);
    Store groupStore = lease.store();
    undo.add(() -> removeKeysIfLast(keys, lease, members));
    CollectiveNode.LocalGroup local = node.join(members.id(), members.size());
    undo.add(() -> node.leave(members.id()));
    GroupMonitor monitor =
        monitor(
            node, local, members, groupStore, options, parent, Backends.needPeers(backendConfig));
    undo.add(monitor::close);
    OperationQueue queue = new OperationQueue(monitor, monitor.executor());
    GroupTransports transports =
        GroupTransports.of(members, options.transports(), context.configuration());
    Waiter waiter =
        Waiter.of(
            monitor.state(),
            monitor.reports(),
            monitor.logContext(),
            spin(members, context.tuning()));
    undo.add(waiter.sockets()::close);
    GroupPaths paths = new GroupPaths(members, node, local, monitor, waiter, transports);
    undo.add(() -> paths.close(-1, Deadline.after(CLOSE_OF_NEW_PATHS), true));
    paths.stripe(
        TcpConnections.of(members, context.configuration(), context.tuning()), queue::partFailed);
    monitor.open(() -> queue.progress().connectingTo(paths.connectingTo()));
    paths.open();
    RankMessages messages =
        new RankMessages(monitor, local.matchers().of(members.rank()), paths::messagesTo);
    AlgorithmSelector algorithms =
        new AlgorithmSelector(costs.costs(), NamedAlgorithms.of(options.algorithms()));
    CallComparison comparison =
        options.debugLevel().orElseThrow() == DebugLevel.DETAIL
            ? new CallComparison(paths.communicator(), new FingerprintCheck(algorithms))
            : null;
    CpuBackend netty =
        new CpuBackend(
            queue,
            paths,
            messages,
            algorithms,
            comparison,
            () ->
                RunAll.of(
                    () ->
                        monitor
                            .state()
                            .closingTime()
                            .connections()
                            .spend(
                                deadline ->
                                    paths.close(
                                        queue.lastSequenceNumber(), deadline, !queue.isRunning())),
                    () -> node.leave(members.id())));
    Watchdog.Watched polled = new GroupPoll(monitor, queue);
    node.watchdog().watch(polled);
    undo.add(() -> node.watchdog().forget(polled));
    Backends backends =
        Backends.of(
            backendConfig,
            netty,
            members,
            groupStore,
            options,
            name -> new GroupOperations(name, queue, messages.numbers(), comparison),
            context,
            origin);
    undo.add(backends::closeOthers);
    RankGroup group =
        new RankGroup(
            queue,
            options,
            backends,
            keys,
            lease,
            this,
            backends.useHostMemory() ? transports.paths(members.rank()) : Paths.NONE,
            () ->
                RunAll.of(
                    () -> node.watchdog().forget(polled),
                    () -> context.left(members.name()),
                    () -> log(members, options, "{} is closed", members),
                    node::release,
                    afterClose));
    context.joined(members.name(), members.identity().lost());
    undo.add(() -> context.left(members.name()));
    context.opened(RankProcessGroup.of(group, false));
    if (parent == null && members.rank() == 0 && !members.isOneNode()) {
      Paths pairs = transports.pairs();
      LOG.info(
          "{}; pairs of ranks: heap {}, shm {}, tcp {}",
          members.layout(),
          pairs.heap(),
          pairs.sharedMemory(),
          pairs.tcp());
    }
    log(
        members,
        options,
        "{} with {} and {}",
        members,
        options.backend().orElseThrow(),
        options.transports());
    return group;
  }

  /** Removes the keys of a group that could not be made on any rank. */
  private static void removeKeysIfLast(Store keys, StoreLease lease, Membership members) {
    Deadline deadline = Deadline.after(REMOVAL_OF_KEYS);
    // Ends whatever still listens to the store, also of a monitor that is made in part.
    if (lease.end(new IllegalStateException(members + " could not be made"), deadline)) {
      RankGroup.removeKeysIfLast(deadline.bound(keys), members.size());
    }
  }

  private GroupMonitor monitor(
      CollectiveNode node,
      CollectiveNode.LocalGroup local,
      Membership members,
      Store groupStore,
      GroupOptions options,
      GroupMonitor parent,
      boolean needPeers) {
    ErrorHandling mode = options.errorHandling().orElseThrow();
    if (parent != null) {
      return new GroupMonitor(members, groupStore, mode, parent);
    }
    RankHost host = new RankHost(context, node.executor());
    RankHeartbeat heartbeat =
        new RankHeartbeat(members, groupStore, needPeers, local.heartbeatElection(), host);
    return new GroupMonitor(members, groupStore, mode, heartbeat, host);
  }

  /**
   * Returns how long waiting threads spin: not at all where the ranks of a host cannot have a
   * processor each.
   */
  private static Duration spin(Membership members, RankTuning tuning) {
    return members.ranksOnThisHost() <= Runtime.getRuntime().availableProcessors()
        ? tuning.spin()
        : Duration.ZERO;
  }

  private static void log(
      Membership members, GroupOptions options, String format, Object... arguments) {
    if (options.debugLevel().orElseThrow() != DebugLevel.OFF) {
      LogContext.of(members.identity()).run(() -> LOG.info(format, arguments));
    }
  }

  private static void requireTransports(Membership members, List<String> transports) {
    if (!transports.contains("tcp") && !members.isOneNode()) {
      throw new IllegalArgumentException(
          "Group \""
              + members.name()
              + "\" has ranks in several JVMs, but may use only "
              + transports
              + ". Add the transport tcp: JVMs of one host agree over it on the memory that they"
              + " share, and all others send their data over it. Its ranks: "
              + members.places());
    }
  }
}
