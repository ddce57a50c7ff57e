package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.BackendCall;
import org.sparkcollectives.BackendContext;
import org.sparkcollectives.BackendOperations;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.EventCache;

/**
 * What one rank holds of a group on GPUs: its communicators, what is on its way into them, and the
 * watch over that.
 *
 * <p>When the group fails its communicators are aborted on threads of their own, so that nobody
 * waits for NCCL; when it is closed in good order they are finalized, which waits, for a bounded
 * time, for what the peers still have to do.
 */
final class NcclGroup {

  private static final Logger LOG = LoggerFactory.getLogger(NcclGroup.class);

  /** How often a thread that waits for NCCL's end says so. */
  private static final Duration LONG = Duration.ofMinutes(10);

  private final BackendContext context;
  private final BackendOperations operations;
  private final CudaDevice device;
  private final DaemonThreads threads;
  private final EventCache events;
  private final EventCache timers;
  private final NcclMemory memory;

  /** Null if what is not a number may be sent. */
  private final DeviceNanCheck nanCheck;

  private final NcclWatch watch;
  private final GroupCommunicators communicators;
  private final Object abortLock = new Object();

  /** Whether threads that abort have been started, or need not be. */
  private boolean aborting;

  /** Within are those who begin an operation. */
  private final Entrance entrance = new Entrance();

  private final LaunchBlocks blocks = new LaunchBlocks();

  private DeviceTensor barrierElement;
  private boolean closed;

  /** Makes no communicator yet. */
  NcclGroup(BackendContext context, Nccl nccl, CudaDevice device) {
    this.context = context;
    this.operations = context.operations();
    this.device = device;
    this.threads = new DaemonThreads(Integer.toString(context.rank()));
    this.events = new EventCache(device, false);
    this.timers =
        context.configuration().get(GpuConfiguration.TIMING) ? new EventCache(device, true) : null;
    this.memory = new NcclMemory(nccl, device);
    this.nanCheck = context.options().nanCheck() ? new DeviceNanCheck(device) : null;
    this.communicators = new GroupCommunicators(context, nccl, device, threads, memory);
    this.watch = new NcclWatch(operations, communicators::lanes);
  }

  /** Begins to look after what will be under way. To be closed also if this fails. */
  void start() {
    watch.start(threads);
    operations.onFailure(this::startAborting);
  }

  GroupCommunicators communicators() {
    return communicators;
  }

  int rank() {
    return context.rank();
  }

  int size() {
    return context.size();
  }

  NcclMemory memory() {
    return memory;
  }

  /** A tensor on this rank's GPU. */
  DeviceTensor own(Tensor tensor) {
    DeviceTensor own = DeviceTensor.of(tensor);
    if (own.gpu().ordinal() != device.ordinal()) {
      throw new IllegalArgumentException(
          "Rank "
              + rank()
              + " of group \""
              + context.groupName()
              + "\" works on "
              + device.device()
              + ", and "
              + own
              + " is elsewhere");
    }
    return own;
  }

  /** What barriers reduce. */
  synchronized DeviceTensor barrierElement() {
    requireOpen();
    if (barrierElement == null) {
      barrierElement = DeviceTensor.allocate(device, DType.INT32, 1);
    }
    return barrierElement;
  }

  Work collective(
      BackendCall call,
      Duration timeout,
      List<DeviceTensor> outputs,
      List<DeviceTensor> inputs,
      NcclOperation.Call launch) {
    return submit(communicators.all(), blocks.current(), call, timeout, outputs, inputs, launch);
  }

  /** A message, by the peer's rank in the communicator that it takes. */
  interface MessageCall {
    void into(CommunicatorStream target, int peer);
  }

  Work message(
      BackendCall call,
      Duration timeout,
      List<DeviceTensor> outputs,
      List<DeviceTensor> inputs,
      MessageCall launch) {
    int peer = call.peer();
    LaunchBlocks.Block block = blocks.current();
    if (block != null) {
      return submit(
          communicators.all(),
          block,
          call,
          timeout,
          outputs,
          inputs,
          target -> launch.into(target, peer));
    }
    int inPair = peer < rank() ? 0 : 1;
    return submit(
        communicators.with(peer),
        null,
        call,
        timeout,
        outputs,
        inputs,
        target -> launch.into(target, inPair));
  }

  private Work submit(
      CommunicatorLane target,
      LaunchBlocks.Block block,
      BackendCall call,
      Duration timeout,
      List<DeviceTensor> outputs,
      List<DeviceTensor> inputs,
      NcclOperation.Call launch) {
    if (!entrance.enter()) {
      throw closed();
    }
    try {
      return submitOpen(target, block, call, timeout, outputs, inputs, launch);
    } finally {
      entrance.leave();
    }
  }

  private Work submitOpen(
      CommunicatorLane target,
      LaunchBlocks.Block block,
      BackendCall call,
      Duration timeout,
      List<DeviceTensor> outputs,
      List<DeviceTensor> inputs,
      NcclOperation.Call launch) {
    CudaStream caller = CudaStream.current(device);
    if (nanCheck != null) {
      nanCheck.require(call, inputs, caller);
    }
    NcclOperation operation = prepare(target, caller, outputs, inputs, launch);
    boolean added = false;
    try {
      // Numbers and launches in the same order; which may take as long as the ranks compare calls:
      // a message of another thread, which they do not compare, must not wait for that.
      boolean alone = block != null && call.type().isPointToPoint();
      synchronized (alone ? block : target.order()) {
        requireOpen();
        operation.begun(operations.begin(call, timeout, List.copyOf(outputs), operation));
        added = !operation.begun().work().isCompleted() && add(operation, target, block);
      }
    } finally {
      if (!added) {
        operation.drop();
      }
    }
    if (added) {
      watch.watch(operation);
      if (block == null) {
        target.begin();
      }
    }
    return operation.begun().work();
  }

  /** Puts an operation where it will be launched from; not if the group was closed meanwhile. */
  private synchronized boolean add(
      NcclOperation operation, CommunicatorLane target, LaunchBlocks.Block block) {
    if (closed) {
      operation.begun().failed(closed());
      return false;
    }
    if (block == null) {
      target.add(List.of(operation));
    } else {
      block.add(operation);
    }
    return true;
  }

  private NcclOperation prepare(
      CommunicatorLane target,
      CudaStream caller,
      List<DeviceTensor> outputs,
      List<DeviceTensor> inputs,
      NcclOperation.Call launch) {
    List<DeviceTensor> tensors = new ArrayList<>(outputs);
    tensors.addAll(inputs);
    long previous = device.enter();
    try {
      if (device.cuda().isCapturing(caller.handle())) {
        throw new IllegalStateException(
            "A graph is being captured from the "
                + caller
                + ", and collectives cannot be a part of it: their deadlines could not be watched");
      }
      return new NcclOperation(target, device, events, timers, tensors, launch, caller.handle());
    } finally {
      device.leave(previous);
    }
  }

  private synchronized void requireOpen() {
    if (closed) {
      throw closed();
    }
  }

  private IllegalStateException closed() {
    return new IllegalStateException(
        "Group \"" + context.groupName() + "\" is closed on rank " + rank());
  }

  /**
   * Begins a block, within which others that the thread begins have no effect.
   *
   * @return ends it
   */
  Runnable beginBlock() {
    return blocks.begin(this::end);
  }

  private void end(LaunchBlocks.Block block) {
    synchronized (this) {
      List<NcclOperation> operations = block.end();
      if (closed || operations.isEmpty()) {
        return;
      }
      communicators.all().add(operations);
    }
    communicators.all().begin();
  }

  private void startAborting() {
    synchronized (abortLock) {
      aborting = aborting || communicators.startAborting();
    }
  }

  /** Blocks for NCCL, but for the configured time at the most; idempotent. */
  void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    Duration atMost = context.configuration().get(GpuConfiguration.ABORT_TIMEOUT);
    boolean over = !operations.hasFailed() && closeCommunicators(atMost);
    if (!over) {
      startAborting();
    }
    boolean noThreads;
    synchronized (abortLock) {
      noThreads = !over && !aborting;
      // The group may still fail; its communicators are gone, or about to be.
      aborting = true;
    }
    if (noThreads) {
      communicators.abort();
    }
    watch.close();
    if (awaitUnused(atMost)) {
      letGo();
      return;
    }
    LOG.warn(
        "NCCL has not let go of the communicators of group \"{}\" on rank {} after {} s: their"
            + " threads and what they use on {} stay behind until it does",
        context.groupName(),
        rank(),
        atMost.toSeconds(),
        device.device());
    threads.startLast("nccl-end", this::letGoLater);
  }

  /** Whether in time nobody uses any more what is to be let go of, nor will. */
  private boolean awaitUnused(Duration atMost) {
    Deadline deadline = Deadline.in(atMost, () -> false);
    // Each may begin what the next is asked about.
    return entrance.close(atMost)
        && communicators.awaitUnused(deadline.left())
        && threads.join(deadline.left());
  }

  private void letGoLater() {
    while (!awaitUnused(LONG)) {
      LOG.debug("Group \"{}\" is still in use by NCCL on rank {}", context.groupName(), rank());
    }
    letGo();
    LOG.info(
        "NCCL has let go of the communicators of group \"{}\" on rank {}, and nothing is left behind",
        context.groupName(),
        rank());
  }

  private boolean closeCommunicators(Duration atMost) {
    boolean[] well = new boolean[1];
    try {
      Runnable close =
          () -> {
            try {
              communicators.close(atMost);
              well[0] = true;
            } catch (RuntimeException | Error e) {
              notInGoodOrder(e);
            }
          };
      return threads.run("nccl-close", atMost, close) && well[0];
    } catch (OutOfMemoryError e) {
      notInGoodOrder(e);
      return false;
    }
  }

  private void notInGoodOrder(Throwable cause) {
    LOG.warn(
        "Group \"{}\" is closed on rank {}, but not in good order: {}",
        context.groupName(),
        rank(),
        cause.toString());
  }

  /** One step after the other, also if one fails: a GPU in error refuses every call. */
  private void letGo() {
    letGoOf("operations", watch::dropAll);
    if (barrierElement != null) {
      letGoOf("the barrier's memory", barrierElement::free);
    }
    if (nanCheck != null) {
      letGoOf("the search for NaN", nanCheck::close);
    }
    letGoOf("memory", memory::free);
    letGoOf("streams", communicators::closeStreams);
    letGoOf("events", events::close);
    if (timers != null) {
      letGoOf("timers", timers::close);
    }
    letGoOf("the device", device::close);
  }

  private void letGoOf(String what, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.warn("Rank {} could not let go of {} on {}", rank(), what, device.device(), e);
    }
  }
}
