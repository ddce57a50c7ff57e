package org.sparkcollectives.gpu.cuda;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Pinned buffers for copies from and to one GPU, by their size: to pin memory costs far more than
 * to copy it. Sizes are powers of two, so that tensors of about the same size share them. Who has a
 * buffer keeps the GPU's context. Thread-safe.
 */
public final class PinnedPool {

  private static final int SMALLEST = 4096;
  private static final int LARGEST_CLASS = 1 << 30;

  /** What is kept for later; more goes back to the system. */
  private static final long MOST_IDLE_BYTES = 1L << 28;

  private static final GarbageWatch GARBAGE = new GarbageWatch("collectives-pinned-memory");

  private final PrimaryContext context;
  private final Map<Integer, Deque<PinnedBuffer>> idle = new HashMap<>();
  private long idleBytes;

  PinnedPool(PrimaryContext context) {
    this.context = context;
  }

  /** A buffer of at least so many bytes, of undefined content; to be given back, or abandoned. */
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
   * Leaves a buffer to whoever may still write into it: it is not used again, and freed once no
   * view of it is reachable.
   */
  public void abandon(PinnedBuffer buffer) {
    buffer.closeWhenUnreachable(GARBAGE, context::releaseInBackground);
  }

  /** Frees all that are not in use. */
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
