package org.sparkcollectives.gpu.nccl;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.spi.BackendContext;

/**
 * The communicators of one rank's group: one for all ranks, and one for each peer that this rank
 * exchanges messages with. The first is created from nothing, or from the communicator of the group
 * that this one is derived from.
 */
final class GroupCommunicators {

  private static final Logger LOG = LoggerFactory.getLogger(GroupCommunicators.class);

  private final BackendContext context;
  private final Nccl nccl;
  private final CudaDevice device;
  private final DaemonThreads threads;
  private final NcclMemory memory;
  private final NcclBootstrap bootstrap;
  private final CommunicatorQueue all;

  /** Ordered by the peer's rank: closing them in this order, no ranks deadlock. */
  private final Map<Integer, CommunicatorQueue> pairs = new ConcurrentSkipListMap<>();

  /** The group from whose communicator this group's is created; null if from nothing. */
  private volatile GroupCommunicators parent;

  /**
   * Creates the object, but no communicator yet.
   *
   * @param memory to be registered with the group's communicator
   * @param tuning how communicators are created
   */
  GroupCommunicators(
      BackendContext context,
      Nccl nccl,
      CudaDevice device,
      DaemonThreads threads,
      NcclMemory memory,
      NcclTuning tuning) {
    this.context = context;
    this.nccl = nccl;
    this.device = device;
    this.threads = threads;
    this.memory = memory;
    this.bootstrap =
        new NcclBootstrap(nccl, context.store().withPrefix("ids"), tuning.ranksPerRoot());
    this.all =
        queue("the communicator of group \"" + context.groupName() + "\"", this::createForAll);
  }

  private CommunicatorQueue queue(String name, LazyCommunicator.Factory factory) {
    LazyCommunicator communicator =
        new LazyCommunicator(
            device,
            name,
            context.configuration().get(GpuConfiguration.HIGH_PRIORITY),
            threads,
            context.operations()::hasFailed,
            factory);
    return new CommunicatorQueue(nccl, device, communicator);
  }

  /** Returns the communicator of all ranks. */
  CommunicatorQueue all() {
    return all;
  }

  /** Returns the communicator of this rank and a peer, in which the lower rank is 0. */
  CommunicatorQueue with(int peer) {
    return pairs.computeIfAbsent(peer, this::pair);
  }

  private CommunicatorQueue pair(int peer) {
    int low = Math.min(peer, context.rank());
    int high = Math.max(peer, context.rank());
    String key = "pair-" + low + "-" + high;
    return queue(
        "the communicator of ranks "
            + low
            + " and "
            + high
            + " of group \""
            + context.groupName()
            + "\"",
        (name, deadline) ->
            bootstrap.create(key, name, 2, context.rank() == low ? 0 : 1, deadline));
  }

  /**
   * Creates the communicator of all ranks, and waits for it. All ranks must call this.
   *
   * @param from the group to create it from; null for none
   */
  void createNow(GroupCommunicators from) {
    parent = from;
    all.communicator().createNow(context.timeout());
  }

  private Communicator createForAll(String name, Deadline deadline) {
    Communicator made =
        parent == null
            ? bootstrap.create("group", name, context.size(), context.rank(), deadline)
            : derive(name, deadline);
    boolean known = false;
    try {
      memory.use(made, all);
      known = true;
      return made;
    } finally {
      if (!known) {
        made.abort();
      }
    }
  }

  private Communicator derive(String name, Deadline deadline) {
    int color = context.origin().color();
    int[] excluded = context.origin().excluded().stream().mapToInt(each -> each).toArray();
    String call = color >= 0 ? "ncclCommSplit" : "ncclCommShrink";
    ByteBuffer config = NcclSettings.NONBLOCKING.encode();
    return parent.all.exclusivelyWhenIdle(
        deadline.left(),
        (from, limit) ->
            Communicator.create(
                nccl,
                name,
                call,
                deadline,
                slot ->
                    begin(
                        from,
                        call,
                        limit,
                        () ->
                            color >= 0
                                ? nccl.commSplit(from.handle(), color, context.rank(), slot, config)
                                : nccl.commShrink(
                                    from.handle(), excluded, slot, config, Nccl.SHRINK_DEFAULT)),
                parent.all.communicator()::abortLate));
  }

  /** Waits until the other communicator is no longer busy; the new one then gets ready. */
  private static int begin(Communicator from, String call, Deadline limit, Supplier<Integer> body) {
    from.check(call, body.get(), limit);
    return NcclResult.IN_PROGRESS;
  }

  /** Returns whether other communicators can be created from that of all ranks. */
  boolean isReady() {
    return all.communicator().get() != null && !context.operations().hasFailed();
  }

  /** Returns whether no operation is in progress in the communicator of all ranks. */
  boolean isIdle() {
    return all.isIdle();
  }

  /** Takes part in a split that creates nothing for this rank. */
  void takePartInSplit(Duration timeout) {
    if (!context.configuration().get(GpuConfiguration.EAGER) || !isReady()) {
      return;
    }
    ByteBuffer config = NcclSettings.NONBLOCKING.encode();
    all.exclusivelyWhenIdle(
        timeout,
        (from, limit) -> {
          Communicator.createNone(
              nccl,
              all + " without this rank",
              slot ->
                  begin(
                      from,
                      "ncclCommSplit",
                      limit,
                      () -> nccl.commSplit(from.handle(), Nccl.NO_COLOR, 0, slot, config)),
              all.communicator()::abortLate);
          return from;
        });
  }

  /** Returns the queues of all communicators so far. */
  List<CommunicatorQueue> queues() {
    List<CommunicatorQueue> queues = new ArrayList<>(pairs.values());
    queues.add(all);
    return queues;
  }

  /**
   * Aborts the operations in progress, each communicator on its own thread, because one may hang.
   * Does not block.
   *
   * @return false if there were not enough threads
   */
  boolean startAborting() {
    // From now on no operation starts in them.
    queues().forEach(each -> each.communicator().end());
    boolean all = true;
    for (CommunicatorQueue each : queues()) {
      try {
        threads.start("nccl-abort", each.communicator()::abort);
      } catch (OutOfMemoryError e) {
        LOG.error("There is no thread to abort {}", each, e);
        all = false;
      }
    }
    return all;
  }

  /** Aborts the operations in progress. Blocks as long as NCCL does. */
  void abort() {
    queues().forEach(each -> each.communicator().abort());
  }

  /** Releases the communicators in good order. May block for the peers. */
  void close(Duration atMost) {
    memory.deregister();
    queues().forEach(each -> each.close(atMost));
  }

  /**
   * Waits until no thread uses the communicators any more, after they were ended.
   *
   * @return false if that takes longer
   */
  boolean awaitUnused(Duration atMost) {
    Deadline deadline = Deadline.in(atMost, () -> false);
    return queues().stream().allMatch(each -> each.awaitUnused(deadline.left()));
  }
}
