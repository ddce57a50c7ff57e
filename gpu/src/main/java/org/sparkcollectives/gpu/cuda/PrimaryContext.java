package org.sparkcollectives.gpu.cuda;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.Device;

/**
 * The context that all libraries of the process share on a GPU, with the memory that this library
 * keeps in it: GPU memory and pinned host memory. There is one per GPU, for as long as somebody
 * holds it: open devices, memory in use, pinned buffers in use. The last holder frees the kept
 * memory, and then releases the driver's context. Thread-safe.
 */
final class PrimaryContext {

  private static final Logger LOG = LoggerFactory.getLogger(PrimaryContext.class);
  private static final long RELEASE_MILLIS = 5_000;
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

  /**
   * Returns the context of a GPU, held; the caller releases it. Blocks while the driver creates it,
   * if there is none.
   */
  static PrimaryContext of(Cuda cuda, int ordinal) {
    Key key = new Key(cuda, ordinal);
    while (true) {
      PrimaryContext context = ALL.computeIfAbsent(key, PrimaryContext::new);
      if (context.tryHold()) {
        return context;
      }
      // Its last holder is releasing it, which may take long: meanwhile a new one may be created.
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
   * Adds a holder, who must release it.
   *
   * @throws IllegalStateException if it was released
   */
  void hold() {
    if (!tryHold()) {
      throw new IllegalStateException(
          Device.cuda(key.ordinal) + " was closed: nothing can be allocated on it");
    }
  }

  /**
   * Removes a holder. The last one blocks until the GPU has done the work that uses idle memory,
   * for some seconds at the most: if the GPU hangs, the thread that frees it keeps waiting, and the
   * caller returns.
   */
  void release() {
    Thread end = endIfLast();
    try {
      if (end != null && !hasEnded(end)) {
        LOG.warn(
            "{} was closed and has work that does not end: its idle memory is freed when it does",
            Device.cuda(key.ordinal));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean hasEnded(Thread end) throws InterruptedException {
    end.join(RELEASE_MILLIS);
    return !end.isAlive();
  }

  /** Removes a holder, without blocking. */
  void releaseInBackground() {
    endIfLast();
  }

  /**
   * Starts the thread that ends the context, and returns it; returns null if there are other
   * holders.
   */
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
      LOG.warn("{} could not be released: {}", Device.cuda(key.ordinal), e.toString());
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

  /** Makes the context current, as {@link CudaDevice#enter} does. */
  long enter() {
    long previous = key.cuda.currentContext();
    if (previous == handle) {
      return 0;
    }
    key.cuda.setCurrentContext(handle);
    return previous;
  }

  /** Restores the previous context, as {@link CudaDevice#leave} does. */
  void leave(long previous) {
    if (previous != 0) {
      try {
        key.cuda.setCurrentContext(previous);
      } catch (CudaException e) {
        // Threads of a pool outlive the groups of earlier tasks, and so their contexts.
        LOG.debug(
            "The context that the thread had before {} is gone: {}",
            Device.cuda(key.ordinal),
            e.toString());
      }
    }
  }

  /**
   * Frees a resource, and logs a failure: a context that has failed refuses that call too, and the
   * resource ends with the context.
   */
  void attempt(Runnable call) {
    try {
      call.run();
    } catch (CudaException e) {
      LOG.debug("Idle memory of {}: {}", Device.cuda(key.ordinal), e.toString());
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
