package org.sparkcollectives.gpu.nccl;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.sparkcollectives.BackendContext;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.gpu.cuda.CudaDevice;

/**
 * The communicators of one rank's group, each with its lane: that of all ranks, and one for each
 * peer that it exchanges messages with. The first is made from nothing, or from that of the group
 * that this one comes from.
 */
final class GroupCommunicators {

  /** The deadline of the operation that waits comes first: it asks the ranks who is missing. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

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
    return new NcclSettings(context.configuration().get(GpuConfiguration.BLOCKING));
  }

  private CommunicatorLane lane(String name, CommunicatorLane.Maker maker) {
    return new CommunicatorLane(
        nccl,
        device,
        name,
        context.configuration().get(GpuConfiguration.HIGH_PRIORITY),
        context.timeout().plus(PATIENCE),
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
    all.makeNow();
  }

  private Communicator makeForAll(String name, Deadline deadline) {
    Communicator made =
        parent == null
            ? bootstrap.make("group", name, context.size(), context.rank(), deadline)
            : derive(name, deadline);
    memory.use(made, all);
    return made;
  }

  private Communicator derive(String name, Deadline deadline) {
    int color = context.origin().color();
    int[] excluded = context.origin().excluded().stream().mapToInt(each -> each).toArray();
    String call = color >= 0 ? "ncclCommSplit" : "ncclCommShrink";
    ByteBuffer settings = settings().encode();
    return parent.all.derive(
        context.timeout(),
        (from, limit) ->
            Communicator.make(
                nccl,
                name,
                call,
                deadline,
                slot -> {
                  int result =
                      color >= 0
                          ? nccl.commSplit(from.handle(), color, context.rank(), slot, settings)
                          : nccl.commShrink(
                              from.handle(), excluded, slot, settings, Nccl.SHRINK_DEFAULT);
                  // The other communicator is busy first; then the new one gets ready.
                  from.check(call, result, limit);
                  return NcclResult.IN_PROGRESS;
                }));
  }

  /** Whether others can be made from that of all ranks. */
  boolean isReady() {
    return all.communicator() != null && !context.operations().hasFailed();
  }

  /** Takes part in a split of which this rank gets nothing. */
  void splitAway(Duration timeout) {
    if (!context.configuration().get(GpuConfiguration.EAGER) || !isReady()) {
      return;
    }
    ByteBuffer none = ByteBuffer.allocateDirect(Long.BYTES);
    ByteBuffer settings = settings().encode();
    all.derive(
        timeout,
        (from, limit) -> {
          from.check(
              "ncclCommSplit",
              nccl.commSplit(from.handle(), Nccl.NO_COLOR, 0, none, settings),
              limit);
          return none;
        });
  }

  private List<CommunicatorLane> lanes() {
    List<CommunicatorLane> lanes = new ArrayList<>(pairs.values());
    lanes.add(all);
    return lanes;
  }

  /** What NCCL reports of one of them; null if nothing. */
  RuntimeException error() {
    for (CommunicatorLane each : lanes()) {
      RuntimeException found = each.error();
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /** Ends what is under way, each on its own thread: one may be stuck. Does not block. */
  void abort() {
    lanes().forEach(each -> threads.start("nccl-abort", each::abort));
  }

  /** Lets go of them in good order; may block for the peers. */
  void close(Duration atMost) {
    memory.deregister();
    lanes().forEach(each -> each.close(atMost));
  }

  /** Lets go of the streams, when the communicators are gone. */
  void closeStreams() {
    lanes().forEach(CommunicatorLane::closeStream);
  }
}
