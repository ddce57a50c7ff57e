package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;

/**
 * A communicator with its stream that is made when it is first wanted, on a thread of its own; it
 * may never be. Once ended, nobody begins to use it, whether it is there or not. Thread-safe.
 */
final class LazyCommunicator {

  /** What makes a communicator in time says more of what it waited for. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final CudaDevice device;
  private final String name;
  private final boolean highPriority;
  private final Deadline.Cancelled cancelled;
  private final Maker maker;
  private final DaemonThreads threads;
  private final AtomicBoolean making = new AtomicBoolean();
  private volatile CudaStream stream;

  /** Written under the monitor of this, as is {@code ended} where there is none yet. */
  private volatile Communicator communicator;

  private volatile Throwable failure;
  private volatile boolean ended;

  /** Makes the communicator, whose device is that of the thread. */
  interface Maker {
    Communicator make(String name, Deadline deadline);
  }

  /**
   * Of a communicator that is not made yet.
   *
   * @param name of the communicator, for errors
   * @param cancelled whether the group has failed
   * @param maker makes the communicator; its device is that of the thread
   */
  LazyCommunicator(
      CudaDevice device,
      String name,
      boolean highPriority,
      DaemonThreads threads,
      Deadline.Cancelled cancelled,
      Maker maker) {
    this.device = device;
    this.name = name;
    this.highPriority = highPriority;
    this.threads = threads;
    this.cancelled = cancelled;
    this.maker = maker;
  }

  /** The communicator, or null if it is not ready. */
  Communicator get() {
    return communicator;
  }

  /** Its stream; there is one where there is a communicator. */
  long stream() {
    return stream.handle();
  }

  /** Why there will be no communicator; null if there is one, or may yet be. */
  Throwable failure() {
    return failure;
  }

  /** Whether it is, or is about to be, let go of. */
  boolean isEnded() {
    return ended;
  }

  /** Whether nobody wants it any more. */
  boolean isUnwanted() {
    return ended || cancelled.isCancelled();
  }

  /** Whether it is known if there is a communicator. */
  boolean isDecided() {
    return communicator != null || failure != null;
  }

  /**
   * Makes it, and waits for it; does nothing if that has begun. On a thread of its own, because
   * NCCL may not come back.
   *
   * @throws CollectiveException if it is not made in time, or cannot be
   */
  void makeNow(Duration timeout) {
    if (!making.compareAndSet(false, true)) {
      return;
    }
    Deadline deadline = Deadline.in(timeout, this::isUnwanted);
    Thread thread = threads.start("nccl-init", () -> make(deadline));
    try {
      TimeUnit.NANOSECONDS.timedJoin(thread, deadline.left().plus(GRACE).toNanos());
    } catch (InterruptedException e) {
      thread.interrupt();
      DaemonThreads.join(thread, GRACE.toNanos());
      Thread.currentThread().interrupt();
    }
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
    if (endUnlessMade()) {
      String text = "NCCL has not come back from making " + name + " in ";
      throw new CollectiveException(text + timeout.toMillis() / 1000.0 + " s", null);
    }
  }

  private synchronized boolean endUnlessMade() {
    ended |= communicator == null;
    return communicator == null;
  }

  /**
   * Begins to make it, unless that has begun. Does not block, nor is there a time limit: who wants
   * it has one.
   *
   * @param after to be done when it is decided whether there is a communicator
   */
  void startMaking(Runnable after) {
    if (!making.compareAndSet(false, true)) {
      return;
    }
    try {
      threads.start(
          "nccl-init",
          () -> {
            make(Deadline.whileWanted(this::isUnwanted));
            after.run();
          });
    } catch (OutOfMemoryError e) {
      failure = e;
      after.run();
    }
  }

  private void make(Deadline deadline) {
    try {
      // After the end there may be no device any more.
      deadline.check(name);
      long previous = device.enter();
      try {
        stream = CudaStream.create(device, highPriority);
        if (!keep(maker.make(name, deadline))) {
          deadline.check(name);
        }
      } finally {
        device.leave(previous);
      }
    } catch (RuntimeException | Error e) {
      failure = e;
    }
  }

  /** Whether it is still wanted: who ended it meanwhile has not seen it. */
  private boolean keep(Communicator ready) {
    synchronized (this) {
      if (!ended) {
        communicator = ready;
        return true;
      }
    }
    ready.abort();
    return false;
  }

  /** Who was told of the communicator by its maker may be here before this has it. */
  Communicator await(Deadline deadline) {
    while (communicator == null) {
      deadline.check("the making of " + name);
      LockSupport.parkNanos(this, PAUSE_NANOS);
    }
    return communicator;
  }

  /** From now on nobody begins to use it; what there is is then to be let go of. */
  synchronized void end() {
    ended = true;
  }

  /**
   * Ends it, and what is under way. Blocks for as long as NCCL does, and a thread that is within
   * NCCL: it must not be when NCCL lets go of the communicator.
   */
  void abort() {
    end();
    Communicator own = communicator;
    if (own != null) {
      long previous = device.enter();
      try {
        own.abort();
      } finally {
        device.leave(previous);
      }
    }
  }

  /** Lets go of the stream, when the communicator is gone and nobody uses it any more. */
  void closeStream() {
    CudaStream own = stream;
    if (own != null) {
      own.close();
    }
  }
}
