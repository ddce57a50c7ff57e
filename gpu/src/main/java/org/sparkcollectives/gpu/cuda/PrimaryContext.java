package org.sparkcollectives.gpu.cuda;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.Device;

/**
 * The context that all libraries of the process share on a GPU, and what this one keeps in it:
 * memory of the GPU, and pinned memory of the host. There is one for a GPU, for as long as somebody
 * holds it: open devices, memory in use, pinned buffers in use. The last one lets go of the
 * driver's context, after all that was kept for later. Thread-safe.
 */
final class PrimaryContext {

  private static final Logger LOG = LoggerFactory.getLogger(PrimaryContext.class);
  private static final long PATIENCE_MILLIS = 5_000;
  private static final ConcurrentMap<Key, PrimaryContext> ALL = new ConcurrentHashMap<>();

  private final Key key;
  private final long handle;
  private final DeviceAllocator allocator = new DeviceAllocator(this);
  private final PinnedPool pinned = new PinnedPool(this);
  private int holders;
  private boolean ended;

  private record Key(Cuda cuda, int ordinal) {}

  private PrimaryContext(Key key) {
    this.key = key;
    this.handle = key.cuda.retainPrimaryContext(key.ordinal);
  }

  /** That of a GPU, held; to be released. Blocks while the driver makes it, if there is none. */
  static PrimaryContext of(Cuda cuda, int ordinal) {
    Key key = new Key(cuda, ordinal);
    while (true) {
      PrimaryContext context = ALL.computeIfAbsent(key, PrimaryContext::new);
      if (context.tryHold()) {
        return context;
      }
      // Its last holder lets go of it, which may take long: meanwhile there may be a new one.
      ALL.remove(key, context);
    }
  }

  private synchronized boolean tryHold() {
    if (!ended) {
      holders++;
    }
    return !ended;
  }

  /**
   * Keeps it for one more; to be released.
   *
   * @throws IllegalStateException if it was let go of
   */
  void hold() {
    if (!tryHold()) {
      throw new IllegalStateException(
          Device.cuda(key.ordinal) + " was closed: nothing can be allocated on it");
    }
  }

  /**
   * Lets go of it. The last one blocks until the GPU has done what uses idle memory, but for some
   * seconds at the most: a GPU that hangs keeps the thread that frees it, and not the caller.
   */
  void release() {
    Thread end = endIfLast();
    try {
      if (end != null && !hasEnded(end)) {
        LOG.warn(
            "{} was closed and has work that does not end: what is kept on it is freed when it does",
            Device.cuda(key.ordinal));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean hasEnded(Thread end) throws InterruptedException {
    end.join(PATIENCE_MILLIS);
    return !end.isAlive();
  }

  /** Lets go of it and does not block. */
  void releaseInBackground() {
    endIfLast();
  }

  /** The thread that ends it; null if it has other holders. */
  private Thread endIfLast() {
    if (!isLast()) {
      return null;
    }
    Thread thread = new Thread(this::endQuietly, "collectives-gpu-" + key.ordinal + "-end");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private synchronized boolean isLast() {
    holders--;
    ended = holders == 0;
    return ended;
  }

  private void endQuietly() {
    try {
      end();
    } catch (CudaException e) {
      LOG.warn("{} could not be let go of: {}", Device.cuda(key.ordinal), e.toString());
    }
  }

  private void end() {
    ALL.remove(key, this);
    try {
      allocator.freeIdle();
      pinned.freeIdle();
    } finally {
      key.cuda.releasePrimaryContext(key.ordinal);
    }
  }

  /** See {@link CudaDevice#enter}. */
  long enter() {
    long previous = key.cuda.currentContext();
    if (previous == handle) {
      return 0;
    }
    key.cuda.setCurrentContext(handle);
    return previous;
  }

  /** See {@link CudaDevice#leave}. */
  void leave(long previous) {
    if (previous != 0) {
      try {
        key.cuda.setCurrentContext(previous);
      } catch (CudaException e) {
        // Threads of a pool outlive the groups, and with them the contexts, of earlier tasks.
        LOG.debug(
            "What the thread had before {} is gone: {}", Device.cuda(key.ordinal), e.toString());
      }
    }
  }

  /** Lets go of something: a context that has failed refuses that too, and it goes with it. */
  void attempt(Runnable call) {
    try {
      call.run();
    } catch (CudaException e) {
      LOG.debug("What was kept on {}: {}", Device.cuda(key.ordinal), e.toString());
    }
  }

  Cuda cuda() {
    return key.cuda;
  }

  int ordinal() {
    return key.ordinal;
  }

  DeviceAllocator allocator() {
    return allocator;
  }

  PinnedPool pinned() {
    return pinned;
  }
}
