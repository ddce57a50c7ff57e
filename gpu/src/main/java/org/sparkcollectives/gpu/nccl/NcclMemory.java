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
 * Memory that is registered with a group's communicator, so that NCCL neither looks it up nor
 * copies it for each operation. It is of two kinds: memory that NCCL allocates for the group's
 * tensors, which lives until it is freed or the group is closed, and registered memory of other
 * owners.
 */
final class NcclMemory {

  private static final Logger LOG = LoggerFactory.getLogger(NcclMemory.class);
  private static final Duration REGISTRATION_LIMIT = Duration.ofSeconds(10);

  private final Nccl nccl;
  private final CudaDevice device;
  private final DaemonThreads threads;
  private final List<Piece> pieces = new ArrayList<>();
  private Communicator communicator;
  private CommunicatorQueue queue;
  private volatile boolean closed;

  /**
   * Creates the memory of a group on a GPU; it is empty.
   *
   * @param threads wait for the GPU before memory is freed
   */
  NcclMemory(Nccl nccl, CudaDevice device, DaemonThreads threads) {
    this.nccl = nccl;
    this.device = device;
    this.threads = threads;
  }

  /** A piece of memory, and the communicator's handle for it. */
  private static final class Piece {
    private final long address;
    private final long bytes;

    /**
     * The registered tensor of another owner, kept reachable as long as NCCL knows its memory; null
     * for NCCL's own memory.
     */
    private final DeviceTensor registered;

    /** The memory as tensors and operations use it; null if it is not NCCL's. */
    private final DeviceMemory memory;

    /** 0 if it is not registered, or NCCL ignored the registration. */
    private long registration;

    private Piece(long address, long bytes, DeviceTensor registered, Consumer<Piece> free) {
      this.address = address;
      this.bytes = bytes;
      this.registered = registered;
      this.memory =
          registered == null ? DeviceMemory.of(address, bytes, done -> free.accept(this)) : null;
    }

    static Piece ofNccl(long address, long bytes, Consumer<Piece> free) {
      return new Piece(address, bytes, null, free);
    }

    static Piece of(DeviceTensor tensor) {
      return new Piece(tensor.address(), tensor.byteSize(), tensor, piece -> {});
    }
  }

  private static ByteBuffer slot() {
    return ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
  }

  /** Allocates a tensor of zeros. */
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
        // The GPU may be full of memory that is kept for tensors of other groups.
        device.emptyCache();
        result = nccl.memAlloc(address, bytes);
      }
      check("ncclMemAlloc of " + bytes + " bytes", result);
      Piece piece = Piece.ofNccl(address.getLong(0), bytes, this::freeInBackground);
      pieces.add(piece);
      if (communicator != null) {
        try {
          withCommunicator(() -> registerWithNccl(piece));
        } catch (CollectiveException e) {
          // Memory that cannot be registered is used like any other; the group may have failed.
          LOG.debug("Memory of {} is not registered: {}", queue, e.toString());
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
   * Registers memory of another owner with the communicator, now or once there is one.
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
      withCommunicator(() -> result[0] = registerWithNccl(piece));
      check("ncclCommRegister of " + tensor, result[0]);
    }
    pieces.add(piece);
    return () -> deregister(piece);
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
   * Registers the existing pieces, and all later ones, with a communicator that is ready and not in
   * use yet.
   *
   * @param ownQueue the queue of the communicator
   */
  synchronized void use(Communicator ready, CommunicatorQueue ownQueue) {
    communicator = ready;
    queue = ownQueue;
    for (Piece each : pieces) {
      int result = registerWithNccl(each);
      if (result != NcclResult.SUCCESS) {
        LOG.warn(
            "NCCL refuses to register {} bytes at 0x{} with {}, and copies them in each operation: {}",
            each.bytes,
            Long.toHexString(each.address),
            queue,
            nccl.errorString(result));
      }
    }
  }

  private int registerWithNccl(Piece piece) {
    ByteBuffer registration = slot();
    int result = nccl.commRegister(communicator.handle(), piece.address, piece.bytes, registration);
    piece.registration = result == NcclResult.SUCCESS ? registration.getLong(0) : 0;
    return result;
  }

  /** Calls NCCL while no other thread calls it for the communicator, or aborts it. */
  private void withCommunicator(Runnable calls) {
    queue.exclusively(
        REGISTRATION_LIMIT,
        (own, deadline) -> {
          calls.run();
          return communicator;
        });
  }

  private void deregisterWithNccl(Piece piece) {
    if (piece.registration != 0) {
      int result = nccl.commDeregister(communicator.handle(), piece.registration);
      if (result != NcclResult.SUCCESS) {
        LOG.warn(
            "NCCL refuses to deregister {} bytes at 0x{} with {}: {}",
            piece.bytes,
            Long.toHexString(piece.address),
            queue,
            nccl.errorString(result));
      }
      piece.registration = 0;
    }
  }

  /**
   * Deregisters a piece, unless that is done.
   *
   * @return false if there was nothing to do, or the group has failed: an abort ends registrations
   */
  private synchronized boolean deregister(Piece piece) {
    if (!pieces.contains(piece)) {
      return false;
    }
    if (communicator != null && piece.registration != 0) {
      try {
        withCommunicator(() -> deregisterWithNccl(piece));
      } catch (GroupAbortedException e) {
        LOG.debug("The abort of {} ends the registration of its memory: {}", queue, e.toString());
        return false;
      }
    }
    pieces.remove(piece);
    return true;
  }

  /**
   * Frees a piece on a separate thread, because its last user must not wait for the GPU. What
   * cannot be freed now is freed with the group.
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

  /** Frees a piece of NCCL's memory. If the group has failed, the piece is freed with the group. */
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
    if (deregister(piece)) {
      release(piece);
    }
  }

  /**
   * Waits for the GPU: NCCL unmaps memory that it has mapped itself, and the driver does not wait
   * for that.
   */
  private void awaitGpu() {
    try {
      long previous = device.enter();
      try {
        device.cuda().synchronizeContext();
      } finally {
        device.leave(previous);
      }
    } catch (CudaException e) {
      // If the GPU has failed, or the group has released it meanwhile, no work is in progress.
      LOG.debug("{} was not awaited: {}", device.device(), e.toString());
    }
  }

  /** Returns whether there is memory for which {@link #free()} waits for the GPU. */
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

  /** Deregisters all pieces before the communicator is finalized. */
  synchronized void deregister() {
    if (communicator == null) {
      return;
    }
    // Skipped where nothing is registered: NCCL may still be busy with a split that was given up.
    if (pieces.stream().anyMatch(each -> each.registration != 0)) {
      try {
        withCommunicator(() -> pieces.forEach(this::deregisterWithNccl));
      } catch (CollectiveException e) {
        LOG.debug("Memory of {} is not deregistered: {}", queue, e.toString());
      }
    }
    communicator = null;
  }

  /** Frees all memory of NCCL's. */
  synchronized void free() {
    closed = true;
    if (hasPieces()) {
      awaitGpu();
    }
    for (Piece each : pieces) {
      if (each.registered == null) {
        // Tensors over it that are still reachable are refused from now on.
        each.memory.free();
        release(each);
      }
    }
    pieces.clear();
    // Tensors that are still reachable must not keep the group reachable.
    communicator = null;
    queue = null;
  }
}
