package org.sparkcollectives.gpu.nccl;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.MemoryRegistration;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaException;
import org.sparkcollectives.gpu.cuda.DeviceMemory;

/**
 * Memory that a group's communicator is told of, so that it need not look it up, nor copy, for each
 * operation: what NCCL allocates for the group's tensors, which lives until it is freed or the
 * group is closed, and what others own and have registered.
 */
final class NcclMemory {

  private static final Logger LOG = LoggerFactory.getLogger(NcclMemory.class);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Nccl nccl;
  private final CudaDevice device;
  private final DaemonThreads threads;
  private final List<Piece> pieces = new ArrayList<>();
  private Communicator communicator;
  private CommunicatorLane lane;
  private volatile boolean closed;

  /**
   * Of a group on a GPU.
   *
   * @param threads wait for the GPU before memory is freed
   */
  NcclMemory(Nccl nccl, CudaDevice device, DaemonThreads threads) {
    this.nccl = nccl;
    this.device = device;
    this.threads = threads;
  }

  /** A piece of memory, and what the communicator knows it by. */
  private static final class Piece {
    private final long address;
    private final long bytes;

    /** What others own, kept reachable as long as NCCL knows of it; null if it is NCCL's own. */
    private final DeviceTensor registered;

    /** As tensors and operations have it; null if it is not NCCL's. */
    private final DeviceMemory memory;

    /** 0 if the communicator was not told, or does not care. */
    private long registration;

    private Piece(long address, long bytes, DeviceTensor registered, Consumer<Piece> giveBack) {
      this.address = address;
      this.bytes = bytes;
      this.registered = registered;
      this.memory =
          registered == null
              ? DeviceMemory.of(address, bytes, done -> giveBack.accept(this))
              : null;
    }

    static Piece ofNccl(long address, long bytes, Consumer<Piece> giveBack) {
      return new Piece(address, bytes, null, giveBack);
    }

    static Piece of(DeviceTensor tensor) {
      return new Piece(tensor.address(), tensor.byteSize(), tensor, piece -> {});
    }
  }

  private static ByteBuffer slot() {
    return ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
  }

  /** A tensor of zeros. */
  synchronized DeviceTensor allocate(DType dtype, long count) {
    Objects.requireNonNull(dtype, "dtype");
    if (count < 0 || count > Long.MAX_VALUE / dtype.bytes()) {
      throw new IllegalArgumentException("A tensor cannot have " + count + " elements");
    }
    requireOpen("allocated");
    if (count == 0) {
      return DeviceTensor.wrap(device, dtype, 0, 0);
    }
    long previous = device.enter();
    try {
      ByteBuffer address = slot();
      long bytes = count * dtype.bytes();
      int result = nccl.memAlloc(address, bytes);
      if (result != NcclResult.SUCCESS) {
        // The GPU may be full of what is kept for tensors of other groups.
        device.emptyCache();
        result = nccl.memAlloc(address, bytes);
      }
      check("ncclMemAlloc of " + bytes + " bytes", result);
      Piece piece = Piece.ofNccl(address.getLong(0), bytes, this::freeInBackground);
      pieces.add(piece);
      if (communicator != null) {
        try {
          inTurn(() -> tell(piece));
        } catch (CollectiveException e) {
          // What cannot be registered is used as any other memory; the group may have failed.
          LOG.debug("NCCL is not told of memory of {}: {}", lane, e.toString());
        }
      }
      DeviceTensor tensor = DeviceTensor.over(device, piece.memory, dtype, count);
      tensor.zero();
      return tensor;
    } finally {
      device.leave(previous);
    }
  }

  /**
   * Tells the communicator of memory that belongs to others, now or when there is one.
   *
   * @throws NcclException if NCCL refuses it
   */
  synchronized MemoryRegistration register(DeviceTensor tensor) {
    requireOpen("registered");
    if (tensor.count() == 0) {
      return () -> {};
    }
    Piece piece = Piece.of(tensor);
    if (communicator != null) {
      int[] result = new int[1];
      inTurn(() -> result[0] = tell(piece));
      check("ncclCommRegister of " + tensor, result[0]);
    }
    pieces.add(piece);
    return () -> forget(piece);
  }

  private void requireOpen(String what) {
    if (closed) {
      throw new IllegalStateException("The group is closed; nothing can be " + what + " in it");
    }
  }

  private void check(String call, int result) {
    if (result != NcclResult.SUCCESS) {
      throw new NcclException(
          call + " failed: " + nccl.errorString(result) + ". " + nccl.lastError(0), result);
    }
  }

  /**
   * Tells a communicator, which is ready and not in use yet, of what there is and of what comes.
   *
   * @param turns who uses the communicator later does so in turn
   */
  synchronized void use(Communicator ready, CommunicatorLane turns) {
    communicator = ready;
    lane = turns;
    for (Piece each : pieces) {
      int result = tell(each);
      if (result != NcclResult.SUCCESS) {
        LOG.warn(
            "NCCL refuses to register {} bytes at 0x{} with {}, and copies what it uses of them: {}",
            each.bytes,
            Long.toHexString(each.address),
            lane,
            nccl.errorString(result));
      }
    }
  }

  private int tell(Piece piece) {
    ByteBuffer registration = slot();
    int result = nccl.commRegister(communicator.handle(), piece.address, piece.bytes, registration);
    piece.registration = result == NcclResult.SUCCESS ? registration.getLong(0) : 0;
    return result;
  }

  /** Calls NCCL while no other thread does for the communicator, nor aborts it. */
  private void inTurn(Runnable calls) {
    lane.derive(
        PATIENCE,
        (own, deadline) -> {
          calls.run();
          return communicator;
        });
  }

  private void withdraw(Piece piece) {
    if (piece.registration != 0) {
      int result = nccl.commDeregister(communicator.handle(), piece.registration);
      if (result != NcclResult.SUCCESS) {
        LOG.warn(
            "NCCL could not forget {} bytes at 0x{} with {}: {}",
            piece.bytes,
            Long.toHexString(piece.address),
            lane,
            nccl.errorString(result));
      }
      piece.registration = 0;
    }
  }

  /**
   * Has the communicator forget a piece, unless it has.
   *
   * @return false if there was nothing to do, or the group has failed: an abort ends registrations
   */
  private synchronized boolean forget(Piece piece) {
    if (!pieces.contains(piece)) {
      return false;
    }
    if (communicator != null && piece.registration != 0) {
      try {
        inTurn(() -> withdraw(piece));
      } catch (GroupAbortedException e) {
        LOG.debug("NCCL forgets memory of {} when it aborts it: {}", lane, e.toString());
        return false;
      }
    }
    pieces.remove(piece);
    return true;
  }

  /**
   * Who has used it last must not wait for the GPU. What cannot be freed now goes with the group.
   */
  private void freeInBackground(Piece piece) {
    if (closed) {
      return;
    }
    try {
      threads.start("nccl-free", () -> free(piece));
    } catch (OutOfMemoryError e) {
      LOG.debug("There is no thread to free memory of {}", device.device(), e);
    }
  }

  /** Frees a piece of NCCL's; that of a group that has failed goes with the group. */
  private void free(Piece piece) {
    if (isKept(piece)) {
      awaitGpu();
      freeIdle(piece);
    }
  }

  private synchronized boolean isKept(Piece piece) {
    return pieces.contains(piece);
  }

  private synchronized void freeIdle(Piece piece) {
    if (forget(piece)) {
      release(piece);
    }
  }

  /** NCCL unmaps memory that it has mapped itself, and the driver does not wait for that. */
  private void awaitGpu() {
    try {
      long previous = device.enter();
      try {
        device.cuda().synchronizeContext();
      } finally {
        device.leave(previous);
      }
    } catch (CudaException e) {
      // Of a GPU that has failed, or that the group has let go of meanwhile, nothing is under way.
      LOG.debug("{} was not awaited: {}", device.device(), e.toString());
    }
  }

  /** Whether there is memory that {@link #free()} waits for the GPU to free. */
  synchronized boolean hasPieces() {
    return pieces.stream().anyMatch(each -> each.registered == null);
  }

  private void release(Piece piece) {
    long previous = device.enter();
    try {
      nccl.memFree(piece.address);
    } finally {
      device.leave(previous);
    }
  }

  /** The communicator is about to go, in good order. */
  synchronized void deregister() {
    if (communicator == null) {
      return;
    }
    // Not in vain: NCCL may yet be busy with a split that was given up.
    if (pieces.stream().anyMatch(each -> each.registration != 0)) {
      try {
        inTurn(() -> pieces.forEach(this::withdraw));
      } catch (CollectiveException e) {
        LOG.debug("NCCL is not told that memory of {} goes: {}", lane, e.toString());
      }
    }
    communicator = null;
  }

  /** Frees all that is NCCL's. */
  synchronized void free() {
    closed = true;
    if (hasPieces()) {
      awaitGpu();
    }
    for (Piece each : pieces) {
      if (each.registered == null) {
        // Tensors that somebody still has are refused.
        each.memory.free();
        release(each);
      }
    }
    pieces.clear();
    // Tensors that are reachable still must not keep the group so.
    communicator = null;
    lane = null;
  }
}
