package org.sparkcollectives.gpu.nccl;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;

/**
 * Memory that NCCL allocates for a group's tensors, and that its communicator is told of, so that
 * it need not look it up, nor copy, for each operation. It lives until the group is closed.
 */
final class NcclMemory {

  private static final Logger LOG = LoggerFactory.getLogger(NcclMemory.class);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Nccl nccl;
  private final CudaDevice device;
  private final List<Piece> pieces = new ArrayList<>();
  private Communicator communicator;
  private CommunicatorLane lane;
  private boolean closed;

  NcclMemory(Nccl nccl, CudaDevice device) {
    this.nccl = nccl;
    this.device = device;
  }

  /** A piece of memory, and what the communicator knows it by. */
  private static final class Piece {
    private final long address;
    private final long bytes;
    private long registration;

    Piece(long address, long bytes) {
      this.address = address;
      this.bytes = bytes;
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
    if (closed) {
      throw new IllegalStateException("The group is closed; nothing can be allocated in it");
    }
    if (count == 0) {
      return DeviceTensor.wrap(device, dtype, 0, 0);
    }
    long previous = device.enter();
    try {
      ByteBuffer address = slot();
      int result = nccl.memAlloc(address, count * dtype.bytes());
      if (result != NcclResult.SUCCESS) {
        throw new NcclException(
            "ncclMemAlloc of "
                + count * dtype.bytes()
                + " bytes failed: "
                + nccl.errorString(result)
                + ". "
                + nccl.lastError(0),
            result);
      }
      Piece piece = new Piece(address.getLong(0), count * dtype.bytes());
      pieces.add(piece);
      if (communicator != null) {
        inTurn(() -> register(piece));
      }
      DeviceTensor tensor = DeviceTensor.wrap(device, dtype, piece.address, count);
      tensor.zero();
      return tensor;
    } finally {
      device.leave(previous);
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
    pieces.forEach(this::register);
  }

  private void register(Piece piece) {
    ByteBuffer registration = slot();
    int result = nccl.commRegister(communicator.handle(), piece.address, piece.bytes, registration);
    piece.registration = result == NcclResult.SUCCESS ? registration.getLong(0) : 0;
  }

  /** Calls NCCL while no other thread does for the communicator, nor aborts it. */
  private void inTurn(Runnable calls) {
    try {
      lane.derive(
          PATIENCE,
          (own, deadline) -> {
            calls.run();
            return communicator;
          });
    } catch (CollectiveException e) {
      // What cannot be registered is used as any other memory; registrations end with an abort.
      LOG.debug("NCCL is not told of memory of {}: {}", lane, e.toString());
    }
  }

  /** The communicator is about to go, in good order. */
  synchronized void deregister() {
    if (communicator == null) {
      return;
    }
    inTurn(
        () -> {
          for (Piece each : pieces) {
            if (each.registration != 0) {
              nccl.commDeregister(communicator.handle(), each.registration);
            }
          }
        });
    communicator = null;
  }

  /** Frees all of it. */
  synchronized void free() {
    closed = true;
    long previous = device.enter();
    try {
      pieces.forEach(each -> nccl.memFree(each.address));
      pieces.clear();
    } finally {
      device.leave(previous);
    }
  }
}
