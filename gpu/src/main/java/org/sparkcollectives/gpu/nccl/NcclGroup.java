package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.spi.BackendContext;
import org.sparkcollectives.spi.BackendOperations;
import org.sparkcollectives.spi.OperationSpec;

/**
 * The state of a group on GPUs at one rank: its communicators, the operations on their way into
 * them, and the watchdog over those.
 *
 * <p>{@link NcclGroupShutdown} aborts or closes it.
 */
final class NcclGroup {

  private final BackendContext context;
  private final BackendOperations operations;
  private final CudaDevice device;
  private final DaemonThreads threads;
  private final OperationEvents events;
  private final NcclMemory memory;

  private final DeviceNanCheck nanCheck;

  /** True while operations on NaN are refused. */
  private volatile boolean checksNan;

  private final NcclWatchdog watchdog;
  private final GroupCommunicators communicators;
  private final NcclGroupShutdown shutdown;

  private final SubmissionGate gate = new SubmissionGate();

  private final CoalescedLaunches coalesced = new CoalescedLaunches();

  private DeviceTensor barrierElement;
  private boolean closed;

  /** Creates the group, but no communicator yet. */
  NcclGroup(BackendContext context, Nccl nccl, CudaDevice device, NcclTuning tuning) {
    this.context = context;
    this.operations = context.operations();
    this.device = device;
    this.threads = new DaemonThreads(Integer.toString(context.rank()));
    this.events = new OperationEvents(device);
    this.memory = new NcclMemory(nccl, device, threads);
    this.nanCheck = new DeviceNanCheck(device);
    this.checksNan = context.options().nanCheck().orElseThrow();
    this.communicators = new GroupCommunicators(context, nccl, device, threads, memory, tuning);
    this.watchdog = new NcclWatchdog(operations, communicators::queues);
    this.shutdown =
        new NcclGroupShutdown(
            context, device, threads, gate, communicators, memory, tuning.abortTimeout());
  }

  /** Starts to watch operations. The group must be closed even if this fails. */
  void start() {
    watchdog.start(threads);
    operations.onFailure(shutdown::startAborting);
  }

  /** Turns the NaN check on or off, for operations that start from now on. */
  void setNanCheck(boolean enabled) {
    checksNan = enabled;
  }

  /** Lets the GPU measure operations that start from now on. */
  void enableTiming() {
    events.enableTiming();
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
    return submit(communicators.all(), coalesced.current(), spec, timeout, outputs, inputs, launch);
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
    CoalescedLaunches.Block block = coalesced.current();
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
      CommunicatorQueue target,
      CoalescedLaunches.Block block,
      OperationSpec spec,
      Duration timeout,
      List<DeviceTensor> outputs,
      List<DeviceTensor> inputs,
      NcclOperation.Call launch) {
    if (!gate.enter()) {
      throw closed();
    }
    try {
      return submitOpen(target, block, spec, timeout, outputs, inputs, launch);
    } finally {
      gate.leave();
    }
  }

  private Work submitOpen(
      CommunicatorQueue target,
      CoalescedLaunches.Block block,
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
      watchdog.watch(operation);
      if (block == null) {
        target.begin();
      }
    }
    return operation.begun().work();
  }

  /** Queues an operation for its launch. Returns false if the group was closed meanwhile. */
  private synchronized boolean add(
      NcclOperation operation, CommunicatorQueue target, CoalescedLaunches.Block block) {
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
      CommunicatorQueue target,
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
      return new NcclOperation(target.communicator(), events, tensors, launch, caller.handle());
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
   * Begins a coalescing block. Blocks that the thread begins inside it have no effect.
   *
   * @return the action that ends the block
   */
  Runnable beginCoalescing() {
    return coalesced.begin(this::end);
  }

  private void end(CoalescedLaunches.Block block) {
    synchronized (this) {
      List<NcclOperation> operations = block.end();
      if (closed || operations.isEmpty()) {
        return;
      }
      communicators.all().add(operations);
    }
    communicators.all().begin();
  }

  /** Blocks for NCCL, for {@link NcclTuning#abortTimeout} at the most; idempotent. */
  void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    shutdown.close(watchdog, this::release);
  }

  /**
   * Releases all resources that communicators, and threads inside NCCL, used while they existed.
   */
  private void release() {
    shutdown.releaseStep("operations", watchdog::dropAll);
    if (barrierElement != null) {
      shutdown.releaseStep("the barrier's memory", barrierElement::free);
    }
    shutdown.releaseStep("the NaN check", nanCheck::close);
    shutdown.releaseStep("memory", memory::free);
    communicators
        .queues()
        .forEach(each -> shutdown.releaseStep("the resources of " + each, each::release));
    shutdown.releaseStep("events", events::close);
    shutdown.releaseStep("the device", device::close);
  }
}
