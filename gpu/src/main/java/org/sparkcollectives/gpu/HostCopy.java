package org.sparkcollectives.gpu;

import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaException;
import org.sparkcollectives.gpu.cuda.PinnedBuffer;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * One copy between a GPU and host memory through two buffers of pinned memory, which alternate:
 * while the bus copies from or to one, the host copies to or from the other. The device must be
 * current on the thread. Closing it blocks until the GPU no longer uses the buffers.
 */
final class HostCopy implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(HostCopy.class);

  /** Large enough for the full speed of the bus, small enough to be available at any time. */
  static final int PIECE_BYTES = 4 << 20;

  private final CudaDevice device;
  private final Cuda cuda;
  private final long stream;
  private final long address;
  private final HostTensor host;
  private final int elementBytes;

  /** The number of elements of each piece except the last. */
  private final int length;

  private final long pieces;
  private final PinnedBuffer[] buffers = new PinnedBuffer[2];

  /** The events that happen when the bus is done with each buffer; 0 if nobody waits for one. */
  private final long[] events = new long[2];

  private boolean busy;

  /** Creates a copy of all elements of a host tensor that is not empty. */
  HostCopy(CudaDevice device, long stream, long address, HostTensor host) {
    this.device = device;
    this.cuda = device.cuda();
    this.stream = stream;
    this.address = address;
    this.host = host;
    this.elementBytes = host.dtype().bytes();
    this.length = (int) Math.min(host.count(), PIECE_BYTES / elementBytes);
    this.pieces = (host.count() + length - 1) / length;
  }

  /** Copies to the GPU. Blocks until the data is there. */
  void toDevice() {
    for (long piece = 0; piece < pieces; piece++) {
      PinnedBuffer buffer = buffer(piece);
      if (piece >= 2) {
        cuda.synchronizeEvent(event(piece));
      }
      ByteBuffer bytes = buffer.buffer();
      host.read(begin(piece), elements(piece), bytes);
      busy = true;
      cuda.copyToDevice(addressOf(piece), buffer.address(), bytes.position(), stream);
      if (piece + 2 < pieces) {
        cuda.recordEvent(event(piece), stream);
      }
    }
    finish();
  }

  /** Copies to the host. Blocks until the data is there. */
  void toHost() {
    startToHost(0);
    for (long piece = 0; piece < pieces; piece++) {
      if (piece + 1 < pieces) {
        startToHost(piece + 1);
        cuda.synchronizeEvent(event(piece));
      } else {
        finish();
      }
      ByteBuffer bytes = buffer(piece).buffer().limit(elements(piece) * elementBytes);
      host.write(begin(piece), elements(piece), bytes);
    }
  }

  /** Starts the copy of a piece to the host. */
  private void startToHost(long piece) {
    PinnedBuffer buffer = buffer(piece);
    busy = true;
    cuda.copyToHost(
        buffer.address(), addressOf(piece), (long) elements(piece) * elementBytes, stream);
    if (piece + 1 < pieces) {
      cuda.recordEvent(event(piece), stream);
    }
  }

  private long begin(long piece) {
    return piece * length;
  }

  private int elements(long piece) {
    return (int) Math.min(length, host.count() - begin(piece));
  }

  private long addressOf(long piece) {
    return address + begin(piece) * elementBytes;
  }

  private PinnedBuffer buffer(long piece) {
    int index = (int) (piece % 2);
    if (buffers[index] == null) {
      buffers[index] = device.pinnedPool().take(length * elementBytes);
    }
    return buffers[index];
  }

  private long event(long piece) {
    int index = (int) (piece % 2);
    if (events[index] == 0) {
      events[index] = cuda.createEvent(false);
    }
    return events[index];
  }

  private void finish() {
    cuda.synchronizeStream(stream);
    busy = false;
  }

  @Override
  public void close() {
    if (busy) {
      finishAfterFailure();
    }
    for (PinnedBuffer buffer : buffers) {
      if (buffer != null) {
        giveBack(buffer);
      }
    }
    for (long event : events) {
      if (event != 0) {
        cuda.destroyEvent(event);
      }
    }
  }

  private void finishAfterFailure() {
    try {
      finish();
    } catch (CudaException e) {
      LOG.debug("The stream of a copy that failed: {}", e.toString());
    }
  }

  private void giveBack(PinnedBuffer buffer) {
    if (busy) {
      device.pinnedPool().abandon(buffer);
    } else {
      device.pinnedPool().giveBack(buffer);
    }
  }
}
