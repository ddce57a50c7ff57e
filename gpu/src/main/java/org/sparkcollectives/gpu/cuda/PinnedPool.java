package org.sparkcollectives.gpu.cuda;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Pinned buffers for copies from and to one GPU, by their size: pinning memory costs far more than
 * copying it. Sizes are powers of two, so tensors of about the same size share buffers. A buffer in
 * use keeps the GPU's context. Thread-safe.
 */
public final class PinnedPool {

  private static final int SMALLEST = 4096;
  private static final int LARGEST_CLASS = 1 << 30;

  /** The bytes that are kept for later; more go back to the system. */
  private static final long MOST_IDLE_BYTES = 1L << 28;

  private static final ResourceCleaner CLEANER = new ResourceCleaner("collectives-pinned-memory");

  private final PrimaryContext context;
  private final Map<Integer, Deque<PinnedBuffer>> idle = new HashMap<>();
  private long idleBytes;

  PinnedPool(PrimaryContext context) {
    this.context = context;
  }

  /**
   * Returns a buffer of at least so many bytes, of undefined content. The caller gives it back, or
   * abandons it.
   */
  public PinnedBuffer take(int bytes) {
    int size = sizeFor(bytes);
    context.hold();
    PinnedBuffer buffer = null;
    try {
      buffer = reuse(size);
      if (buffer == null) {
        buffer = PinnedBuffer.allocate(context, size);
      }
      return buffer;
    } finally {
      if (buffer == null) {
        context.releaseInBackground();
      }
    }
  }

  private synchronized PinnedBuffer reuse(int size) {
    Deque<PinnedBuffer> same = idle.get(size);
    if (same == null || same.isEmpty()) {
      return null;
    }
    idleBytes -= size;
    return same.pop();
  }

  private static int sizeFor(int bytes) {
    if (bytes > LARGEST_CLASS) {
      return bytes;
    }
    return Math.max(SMALLEST, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1);
  }

  /** Takes back a buffer that nobody uses any more. */
  public void giveBack(PinnedBuffer buffer) {
    try {
      if (!keep(buffer)) {
        buffer.close();
      }
    } finally {
      context.releaseInBackground();
    }
  }

  private synchronized boolean keep(PinnedBuffer buffer) {
    if (idleBytes + buffer.size() > MOST_IDLE_BYTES) {
      return false;
    }
    idle.computeIfAbsent(buffer.size(), size -> new ArrayDeque<>()).push(buffer);
    idleBytes += buffer.size();
    return true;
  }

  /**
   * Abandons a buffer into which somebody may still write: it is not reused, and is freed once no
   * view of it is reachable.
   */
  public void abandon(PinnedBuffer buffer) {
    buffer.closeWhenUnreachable(CLEANER, context::releaseInBackground);
  }

  /** Frees all idle buffers. */
  void freeIdle() {
    Deque<PinnedBuffer> all = new ArrayDeque<>();
    synchronized (this) {
      idle.values().forEach(all::addAll);
      idle.clear();
      idleBytes = 0;
    }
    all.forEach(each -> context.attempt(each::close));
  }
}
