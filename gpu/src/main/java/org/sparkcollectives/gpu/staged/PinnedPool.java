package org.sparkcollectives.gpu.staged;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.PinnedBuffer;

/**
 * Pinned buffers that are not in use, by their size: to pin memory costs far more than to copy it.
 * Sizes are powers of two, so that tensors of about the same size share them. Thread-safe.
 */
final class PinnedPool implements AutoCloseable {

  private static final int SMALLEST = 4096;
  private static final int LARGEST_CLASS = 1 << 30;

  /** What is kept for later; more goes back to the system. */
  private static final long MOST_IDLE_BYTES = 1L << 28;

  private final CudaDevice device;
  private final Map<Integer, Deque<PinnedBuffer>> idle = new HashMap<>();
  private long idleBytes;
  private boolean closed;

  PinnedPool(CudaDevice device) {
    this.device = device;
  }

  /** A buffer of at least so many bytes, of undefined content. */
  PinnedBuffer take(int bytes) {
    int size = sizeFor(bytes);
    synchronized (this) {
      Deque<PinnedBuffer> same = idle.get(size);
      if (same != null && !same.isEmpty()) {
        idleBytes -= size;
        return same.pop();
      }
    }
    return PinnedBuffer.allocate(device, size);
  }

  private static int sizeFor(int bytes) {
    if (bytes > LARGEST_CLASS) {
      return bytes;
    }
    return Math.max(SMALLEST, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1);
  }

  /** Takes back a buffer that nobody uses any more. */
  void giveBack(PinnedBuffer buffer) {
    synchronized (this) {
      if (!closed && idleBytes + buffer.size() <= MOST_IDLE_BYTES) {
        idle.computeIfAbsent(buffer.size(), size -> new ArrayDeque<>()).push(buffer);
        idleBytes += buffer.size();
        return;
      }
    }
    buffer.close();
  }

  /** Frees all that are not in use, and others when they are given back. */
  @Override
  public void close() {
    Deque<PinnedBuffer> all = new ArrayDeque<>();
    synchronized (this) {
      closed = true;
      idle.values().forEach(all::addAll);
      idle.clear();
      idleBytes = 0;
    }
    all.forEach(PinnedBuffer::close);
  }
}
