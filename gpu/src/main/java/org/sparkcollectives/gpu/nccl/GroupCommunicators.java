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
import org.sparkcollectives.BackendContext;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.gpu.cuda.CudaDevice;

/**
 * The communicators of one rank's group, each with its lane: that of all ranks, and one for each
 * peer that it exchanges messages with. The first is made from nothing, or from that of the group
 * that this one comes from.
 */
final class GroupCommunicators {

  private static final Logger LOG = LoggerFactory.getLogger(GroupCommunicators.class);

  private final BackendContext context;
  private final Nccl nccl;
  private final CudaDevice device;
  private final DaemonThreads threads;
  private final NcclMemory memory;
  private final NcclBootstrap bootstrap;
  private final CommunicatorLane all;

  /** By the peer's rank: closed in this order, no ranks wait for each other in a circle. */
  private final Map<Integer, CommunicatorLane> pairs = new ConcurrentSkipListMap<>();

  /** From whose communicator the group's is made; null if from nothing. */
  private volatile GroupCommunicators parent;

  /**
   * Makes no communicator yet.
   *
   * @param memory that the group's communicator is told of
   */
  GroupCommunicators(
      BackendContext context,
      Nccl nccl,
      CudaDevice device,
      DaemonThreads threads,
      NcclMemory memory) {
    this.context = context;
    this.nccl = nccl;
    this.device = device;
    this.threads = threads;
    this.memory = memory;
    this.bootstrap =
        new NcclBootstrap(
            nccl,
            context.store().withPrefix("ids"),
            settings(),
            context.configuration().get(GpuConfiguration.RANKS_PER_ROOT));
    this.all = lane("the communicator of group \"" + context.groupName() + "\"", this::makeForAll);
  }

  private NcclSettings settings() {
    return NcclSettings.of(context.configuration());
  }

  private CommunicatorLane lane(String name, LazyCommunicator.Maker maker) {
    return new CommunicatorLane(
        nccl,
        device,
        name,
        context.configuration().get(GpuConfiguration.HIGH_PRIORITY),
        threads,
        context.operations()::hasFailed,
        maker);
  }

  /** That of all ranks. */
  CommunicatorLane all() {
    return all;
  }

  /** That of this rank and a peer; the lower rank is 0 in it. */
  CommunicatorLane with(int peer) {
    return pairs.computeIfAbsent(peer, this::pair);
  }

  private CommunicatorLane pair(int peer) {
    int low = Math.min(peer, context.rank());
    int high = Math.max(peer, context.rank());
    String key = "pair-" + low + "-" + high;
    return lane(
        "the communicator of ranks "
            + low
            + " and "
            + high
            + " of group \""
            + context.groupName()
            + "\"",
        (name, deadline) -> bootstrap.make(key, name, 2, context.rank() == low ? 0 : 1, deadline));
  }

  /**
   * Makes that of all ranks, for which all of them call; waits for them.
   *
   * @param from where it is made from; null for nothing
   */
  void makeNow(GroupCommunicators from) {
    parent = from;
    all.makeNow(context.timeout());
  }

  private Communicator makeForAll(String name, Deadline deadline) {
    Communicator made =
        parent == null
            ? bootstrap.make("group", name, context.size(), context.rank(), deadline)
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
    ByteBuffer settings = settings().encode();
    return parent.all.deriveWhenIdle(
        deadline.left(),
        (from, limit) ->
            Communicator.make(
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
                                ? nccl.commSplit(
                                    from.handle(), color, context.rank(), slot, settings)
                                : nccl.commShrink(
                                    from.handle(), excluded, slot, settings, Nccl.SHRINK_DEFAULT)),
                parent.all::abortLate));
  }

  /** The other communicator is busy first; then the new one gets ready. */
  private static int begin(Communicator from, String call, Deadline limit, Supplier<Integer> body) {
    from.check(call, body.get(), limit);
    return NcclResult.IN_PROGRESS;
  }

  /** Whether others can be made from that of all ranks. */
  boolean isReady() {
    return all.communicator() != null && !context.operations().hasFailed();
  }

  /** Whether nothing is under way in that of all ranks. */
  boolean isIdle() {
    return all.isIdle();
  }

  /** Takes part in a split of which this rank gets nothing. */
  void splitAway(Duration timeout) {
    if (!context.configuration().get(GpuConfiguration.EAGER) || !isReady()) {
      return;
    }
    ByteBuffer settings = settings().encode();
    all.deriveWhenIdle(
        timeout,
        (from, limit) -> {
          Communicator.makeNone(
              nccl,
              all + " without this rank",
              slot ->
                  begin(
                      from,
                      "ncclCommSplit",
                      limit,
                      () -> nccl.commSplit(from.handle(), Nccl.NO_COLOR, 0, slot, settings)),
              all::abortLate);
          return from;
        });
  }

  /** All that there are so far. */
  List<CommunicatorLane> lanes() {
    List<CommunicatorLane> lanes = new ArrayList<>(pairs.values());
    lanes.add(all);
    return lanes;
  }

  /**
   * Ends what is under way, each on its own thread: one may be stuck. Does not block.
   *
   * @return false if there were not enough threads
   */
  boolean startAborting() {
    // From now on nobody begins anything in them.
    lanes().forEach(CommunicatorLane::end);
    boolean all = true;
    for (CommunicatorLane each : lanes()) {
      try {
        threads.start("nccl-abort", each::abort);
      } catch (OutOfMemoryError e) {
        LOG.error("No thread could be had to abort {}", each, e);
        all = false;
      }
    }
    return all;
  }

  /** Ends what is under way; blocks for NCCL. */
  void abort() {
    lanes().forEach(CommunicatorLane::abort);
  }

  /** Lets go of them in good order; may block for the peers. */
  void close(Duration atMost) {
    memory.deregister();
    lanes().forEach(each -> each.close(atMost));
  }

  /**
   * Waits until no thread uses them any more, after they were ended.
   *
   * @return false if it is not so in time
   */
  boolean awaitUnused(Duration atMost) {
    Deadline deadline = Deadline.in(atMost, () -> false);
    return lanes().stream().allMatch(each -> each.awaitUnused(deadline.left()));
  }
}
