package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.EventCache;
import org.sparkcollectives.spi.BackendContext;
import org.sparkcollectives.spi.BackendOperations;
import org.sparkcollectives.spi.OperationSpec;

/**
 * The state of a group on GPUs at one rank: its communicators, the operations on their way into
 * them, and the watch over those.
 *
 * <p>{@link NcclGroupEnd} ends it.
 */
final class NcclGroup {

  private final BackendContext context;
  private final BackendOperations operations;
  private final CudaDevice device;
  private final DaemonThreads threads;
  private final EventCache events;
  private final EventCache timers;
  private final NcclMemory memory;

  private final DeviceNanCheck nanCheck;

  /** Whether operations on NaN are refused. */
  private volatile boolean checksNan;

  private final NcclWatch watch;
  private final GroupCommunicators communicators;
  private final NcclGroupEnd end;

  /** A thread is inside while it starts an operation. */
  private final Entrance entrance = new Entrance();

  private final LaunchBlocks blocks = new LaunchBlocks();

  private DeviceTensor barrierElement;
  private boolean closed;

  /** Creates the group, but no communicator yet. */
  NcclGroup(BackendContext context, Nccl nccl, CudaDevice device) {
    this.context = context;
    this.operations = context.operations();
    this.device = device;
    this.threads = new DaemonThreads(Integer.toString(context.rank()));
    this.events = new EventCache(device, false);
    this.timers =
        context.configuration().get(GpuConfiguration.TIMING) ? new EventCache(device, true) : null;
    this.memory = new NcclMemory(nccl, device, threads);
    this.nanCheck = new DeviceNanCheck(device);
    this.checksNan = context.options().nanCheck().orElseThrow();
    this.communicators = new GroupCommunicators(context, nccl, device, threads, memory);
    this.watch = new NcclWatch(operations, communicators::lanes);
    this.end = new NcclGroupEnd(context, device, threads, entrance, communicators, memory);
  }

  /** Starts to watch operations. The group must be closed even if this fails. */
  void start() {
    watch.start(threads);
    operations.onFailure(end::startAborting);
  }

  /** Turns the search for NaN on or off, for operations that start from now on. */
  void setNanCheck(boolean enabled) {
    checksNan = enabled;
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

  /** Returns a tensor on this rank's GPU. */
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

  /** Returns the element that barriers reduce. */
  synchronized DeviceTensor barrierElement() {
    requireOpen();
    if (barrierElement == null) {
      barrierElement = DeviceTensor.allocate(device, DType.INT32, 1);
    }
    return barrierElement;
  }

  Work collective(
      OperationSpec spec,
      Duration timeout,
      List<DeviceTensor> outputs,
      List<DeviceTensor> inputs,
      NcclOperation.Call launch) {
    return submit(communicators.all(), blocks.current(), spec, timeout, outputs, inputs, launch);
  }

  /** Puts a message into a communicator, with the peer's rank there. */
  interface MessageCall {
    void into(CommunicatorStream target, int peer);
  }

  Work message(
      OperationSpec spec,
      Duration timeout,
      List<DeviceTensor> outputs,
      List<DeviceTensor> inputs,
      MessageCall launch) {
    int peer = spec.peer();
    LaunchBlocks.Block block = blocks.current();
    if (block != null) {
      return submit(
          communicators.all(),
          block,
          spec,
          timeout,
          outputs,
          inputs,
          target -> launch.into(target, peer));
    }
    int inPair = peer < rank() ? 0 : 1;
    return submit(
        communicators.with(peer),
        null,
        spec,
        timeout,
        outputs,
        inputs,
        target -> launch.into(target, inPair));
  }

  private Work submit(
      CommunicatorLane target,
      LaunchBlocks.Block block,
      OperationSpec spec,
      Duration timeout,
      List<DeviceTensor> outputs,
      List<DeviceTensor> inputs,
      NcclOperation.Call launch) {
    if (!entrance.enter()) {
      throw closed();
    }
    try {
      return submitOpen(target, block, spec, timeout, outputs, inputs, launch);
    } finally {
      entrance.leave();
    }
  }

  private Work submitOpen(
      CommunicatorLane target,
      LaunchBlocks.Block block,
      OperationSpec spec,
      Duration timeout,
      List<DeviceTensor> outputs,
      List<DeviceTensor> inputs,
      NcclOperation.Call launch) {
    CudaStream caller = CudaStream.current(device);
    if (checksNan) {
      nanCheck.require(spec, inputs, caller);
    }
    NcclOperation operation = prepare(target, caller, outputs, inputs, launch);
    boolean added = false;
    try {
      // The lock keeps numbers and launches in the same order. It may be held as long as the ranks
      // compare calls. Messages of other threads, which are not compared, must not wait for that.
      boolean alone = block != null && spec.type().isPointToPoint();
      synchronized (alone ? block : target.order()) {
        requireOpen();
        operation.begun(operations.begin(spec, timeout, List.copyOf(outputs), operation));
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

  /** Queues an operation for its launch. Returns false if the group was closed meanwhile. */
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
   * Begins a launch block. Blocks that the thread begins inside it have no effect.
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

  /** Blocks for NCCL, for the configured time at the most; idempotent. */
  void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    end.close(watch, this::letGo);
  }

  /**
   * Releases all resources that communicators, and threads inside NCCL, used while they existed.
   */
  private void letGo() {
    end.letGoOf("operations", watch::dropAll);
    if (barrierElement != null) {
      end.letGoOf("the barrier's memory", barrierElement::free);
    }
    end.letGoOf("the search for NaN", nanCheck::close);
    end.letGoOf("memory", memory::free);
    communicators.lanes().forEach(each -> end.letGoOf("what " + each + " used", each::letGo));
    end.letGoOf("events", events::close);
    if (timers != null) {
      end.letGoOf("timers", timers::close);
    }
    end.letGoOf("the device", device::close);
  }
}
