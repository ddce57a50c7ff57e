package org.sparkcollectives.gpu.cuda;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.Device;
import org.sparkcollectives.net.LibraryThreads;

/**
 * The context that all libraries of the process share on a GPU, for as long as somebody holds it:
 * open devices, memory in use, pinned buffers in use. When the last holder has released it, its
 * owner frees the memory that is kept in it, and then the driver's context is released.
 * Thread-safe.
 */
final class PrimaryContext {

  private static final Logger LOG = LoggerFactory.getLogger(PrimaryContext.class);
  private static final long RELEASE_MILLIS = 5_000;

  private final Cuda cuda;
  private final int ordinal;
  private final Owner owner;
  private final long handle;
  private int holders;
  private boolean ended;

  /** Keeps memory in the context. */
  interface Owner {

    /**
     * Frees what is kept in the context. Called once, when the last holder has released the context
     * and there can be no other.
     */
    void released();
  }

  /** Creates the context of a GPU. Blocks while the driver does. It has no holder yet. */
  PrimaryContext(Cuda cuda, int ordinal, Owner owner) {
    this.cuda = cuda;
    this.ordinal = ordinal;
    this.owner = owner;
    this.handle = cuda.retainPrimaryContext(ordinal);
  }

  /** Adds a holder, who must release it. Returns false, and adds none, if it was released. */
  synchronized boolean tryHold() {
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
          Device.cuda(ordinal) + " was closed: nothing can be allocated on it");
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
            Device.cuda(ordinal));
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
    return LibraryThreads.start("collectives-gpu-" + ordinal + "-end", this::endQuietly);
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
      LOG.warn("{} could not be released: {}", Device.cuda(ordinal), e.toString());
    }
  }

  private void end() {
    try {
      owner.released();
    } finally {
      cuda.releasePrimaryContext(ordinal);
    }
  }

  /** Makes the context current, as {@link CudaDevice#enter} does. */
  long enter() {
    long previous = cuda.currentContext();
    if (previous == handle) {
      return 0;
    }
    cuda.setCurrentContext(handle);
    return previous;
  }

  /** Restores the previous context, as {@link CudaDevice#leave} does. */
  void leave(long previous) {
    if (previous != 0) {
      try {
        cuda.setCurrentContext(previous);
      } catch (CudaException e) {
        // Threads of a pool outlive the groups of earlier tasks, and so their contexts.
        LOG.debug(
            "The context that the thread had before {} is gone: {}",
            Device.cuda(ordinal),
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
      LOG.debug("Idle memory of {}: {}", Device.cuda(ordinal), e.toString());
    }
  }

  Cuda cuda() {
    return cuda;
  }

  int ordinal() {
    return ordinal;
  }
}
