package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
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
  private final AtomicBoolean aborting = new AtomicBoolean();

  /** Of this group: a thread may be in blocks of several. */
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<Block> blocks = new ThreadLocal<>();

  /** Held while an operation gets its number and its place. */
  private final Object order = new Object();

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
    this.watch = new NcclWatch(operations, threads, communicators::error);
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
    return submit(communicators.all(), currentBlock(), call, timeout, outputs, inputs, launch);
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
    Block block = currentBlock();
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
      Block block,
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
      // Numbers and launches in the same order; which may take as long as the ranks compare calls.
      synchronized (order) {
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
  private synchronized boolean add(NcclOperation operation, CommunicatorLane target, Block block) {
    if (closed) {
      operation.begun().failed(closedAlready());
      return false;
    }
    if (block == null) {
      target.add(List.of(operation));
    } else {
      block.operations.add(operation);
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
      throw closedAlready();
    }
  }

  private IllegalStateException closedAlready() {
    return new IllegalStateException(
        "Group \"" + context.groupName() + "\" is closed on rank " + rank());
  }

  /** What a thread has begun since a block was opened: launched together when it ends. */
  private static final class Block {
    private final List<NcclOperation> operations = new ArrayList<>();
    private volatile boolean ended;
  }

  private Block currentBlock() {
    Block block = blocks.get();
    return block == null || block.ended ? null : block;
  }

  /**
   * Begins a block, within which others that the thread begins have no effect.
   *
   * @return ends it
   */
  Runnable beginBlock() {
    if (currentBlock() != null) {
      return () -> {};
    }
    Block block = new Block();
    blocks.set(block);
    return () -> end(block);
  }

  private void end(Block block) {
    if (blocks.get() == block) {
      blocks.remove();
    }
    synchronized (this) {
      block.ended = true;
      if (closed || block.operations.isEmpty()) {
        return;
      }
      communicators.all().add(List.copyOf(block.operations));
    }
    communicators.all().begin();
  }

  private void startAborting() {
    if (aborting.compareAndSet(false, true)) {
      communicators.abort();
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
    boolean over = operations.hasFailed() || closeCommunicators(atMost);
    if (!over || operations.hasFailed()) {
      startAborting();
    }
    // The group may still fail; its communicators are gone, or about to be.
    aborting.set(true);
    watch.close();
    if (threads.join(atMost)) {
      letGo();
    } else {
      LOG.warn(
          "NCCL has not let go of the communicators of group \"{}\" on rank {} after {} s: their"
              + " threads and what they use on {} stay behind until it does",
          context.groupName(),
          rank(),
          atMost.toSeconds(),
          device.device());
    }
  }

  private boolean closeCommunicators(Duration atMost) {
    boolean[] well = new boolean[1];
    boolean done =
        threads.run(
            "nccl-close",
            atMost,
            () -> {
              try {
                communicators.close(atMost);
                well[0] = true;
              } catch (RuntimeException e) {
                LOG.warn(
                    "Group \"{}\" is closed on rank {}, but not in good order: {}",
                    context.groupName(),
                    rank(),
                    e.toString());
              }
            });
    return done && well[0];
  }

  private void letGo() {
    watch.dropAll();
    if (barrierElement != null) {
      barrierElement.free();
    }
    if (nanCheck != null) {
      nanCheck.close();
    }
    memory.free();
    communicators.closeStreams();
    events.close();
    if (timers != null) {
      timers.close();
    }
    device.close();
  }
}
