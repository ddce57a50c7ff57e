package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.store.Backoff;

/**
 * A communicator with its stream that is created when it is first needed, on a separate thread;
 * perhaps it is never needed. Once ended, nobody starts to use it, whether it exists or not.
 * Thread-safe.
 */
final class LazyCommunicator {

  /**
   * The factory gets this much time after its deadline: its own error says more about what it
   * waited for.
   */
  private static final Duration GRACE = Duration.ofSeconds(1);

  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final CudaDevice device;
  private final String name;
  private final boolean highPriority;
  private final Deadline.Cancelled cancelled;
  private final Factory factory;
  private final DaemonThreads threads;
  private final AtomicBoolean creating = new AtomicBoolean();
  private volatile CudaStream stream;

  /**
   * Written under the monitor of this object, as is {@code ended} while there is no communicator.
   */
  private volatile Communicator communicator;

  private volatile Throwable failure;
  private volatile boolean ended;

  /** Creates the communicator. Its device is current on the thread. */
  interface Factory {
    Communicator create(String name, Deadline deadline);
  }

  /**
   * Creates the object; its communicator does not exist yet.
   *
   * @param name of the communicator, for errors
   * @param cancelled whether the group has failed
   * @param factory creates the communicator; its device is current on the thread
   */
  LazyCommunicator(
      CudaDevice device,
      String name,
      boolean highPriority,
      DaemonThreads threads,
      Deadline.Cancelled cancelled,
      Factory factory) {
    this.device = device;
    this.name = name;
    this.highPriority = highPriority;
    this.threads = threads;
    this.cancelled = cancelled;
    this.factory = factory;
  }

  /** Returns the communicator, or null if it is not ready. */
  Communicator get() {
    return communicator;
  }

  /** Returns its name, for errors. */
  String name() {
    return name;
  }

  /** Returns its stream. The stream exists if the communicator does. */
  long stream() {
    return stream.handle();
  }

  /**
   * Returns the reason why there will be no communicator; null if there is one, or may still be.
   */
  Throwable failure() {
    return failure;
  }

  /** Returns whether it is released, or about to be. */
  boolean isEnded() {
    return ended;
  }

  /**
   * Returns the error that NCCL reports; null if there is none, or NCCL cannot be called at the
   * moment.
   */
  RuntimeException error() {
    Communicator own = communicator;
    if (own == null || ended) {
      return null;
    }
    int state = own.asyncError();
    return state == NcclResult.SUCCESS || state == NcclResult.IN_PROGRESS
        ? null
        : own.failure("An operation", state);
  }

  /** Returns whether nobody needs it any more. */
  boolean isUnwanted() {
    return ended || cancelled.isCancelled();
  }

  /** Returns whether the creation has succeeded or failed. */
  boolean isDecided() {
    return communicator != null || failure != null;
  }

  /**
   * Creates the communicator on a separate thread, because NCCL may not return, and waits for it.
   * Does nothing if the creation has begun.
   *
   * @throws CollectiveException if it is not created in time, or cannot be
   */
  void createNow(Duration timeout) {
    if (!creating.compareAndSet(false, true)) {
      return;
    }
    Deadline deadline = Deadline.in(timeout, this::isUnwanted);
    Thread thread = threads.start("nccl-init", () -> create(deadline));
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
    if (endUnlessCreated()) {
      String text = "NCCL has not returned from the creation of " + name + " in ";
      throw new CollectiveException(text + timeout.toMillis() / 1000.0 + " s", null);
    }
  }

  private synchronized boolean endUnlessCreated() {
    ended |= communicator == null;
    return communicator == null;
  }

  /**
   * Begins to create the communicator, unless that has begun. Does not block, and has no time
   * limit: those who need the communicator have one.
   *
   * @param after runs when it is known whether there is a communicator
   */
  void startCreating(Runnable after) {
    if (!creating.compareAndSet(false, true)) {
      return;
    }
    try {
      threads.start(
          "nccl-init",
          () -> {
            create(Deadline.whileWanted(this::isUnwanted));
            after.run();
          });
    } catch (OutOfMemoryError e) {
      failure = e;
      after.run();
    }
  }

  private void create(Deadline deadline) {
    try {
      // After the end the device may be gone.
      deadline.check(name);
      long previous = device.enter();
      try {
        stream = CudaStream.create(device, highPriority);
        if (!keep(factory.create(name, deadline))) {
          deadline.check(name);
        }
      } finally {
        device.leave(previous);
      }
    } catch (RuntimeException | Error e) {
      failure = e;
    }
  }

  /**
   * Stores the communicator, and returns whether it is still wanted: an end that came meanwhile has
   * not seen it.
   */
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

  /**
   * Waits for the communicator. A caller that got it from the factory may call this before it is
   * stored.
   */
  Communicator await(Deadline deadline) {
    Backoff backoff = Backoff.every(PAUSE_NANOS);
    while (communicator == null) {
      deadline.check("the creation of " + name);
      backoff.pause();
    }
    return communicator;
  }

  /** Prevents any further use of the communicator; if it exists, it must then be released. */
  synchronized void end() {
    ended = true;
  }

  /**
   * Ends it, and aborts the operations in progress. Blocks as long as NCCL does, and as long as
   * another thread is inside NCCL: none may be there when NCCL releases the communicator.
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

  /**
   * Starts a thread that aborts a communicator which NCCL may still create out of this one. Does
   * not block.
   */
  void abortLate(Communicator late) {
    Communicator own = communicator;
    threads.start(
        "nccl-late",
        () -> {
          long previous = device.enter();
          try {
            late.abortLate(own);
          } finally {
            device.leave(previous);
          }
        });
  }

  /** Destroys the stream, when the communicator is gone and nobody uses it any more. */
  void closeStream() {
    CudaStream own = stream;
    if (own != null) {
      own.close();
    }
  }
}
