package org.sparkcollectives.gpu.nccl;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.TransportException;

/**
 * One of NCCL's communicators, from the call that begins to make it to the one that lets go of it.
 *
 * <p>One that is not blocking answers that it is in progress: {@link #check} then waits, with a
 * deadline, and ends when the communicator is aborted by another thread. Calls are for one thread
 * at a time, apart from {@link #asyncError} and {@link #abort}.
 */
final class Communicator {

  private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  private final Nccl nccl;
  private final String name;

  /**
   * NCCL may write the handle after the call that begins has returned, from a thread of its own.
   */
  private final ByteBuffer slot =
      ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());

  /** What NCCL may still write to after the caller has given up. */
  private static final Queue<ByteBuffer> GIVEN_UP = new ConcurrentLinkedQueue<>();

  private boolean gone;

  private Communicator(Nccl nccl, String name) {
    this.nccl = nccl;
    this.name = name;
  }

  /** Begins to make a communicator, and says with which result. */
  interface Beginning {
    int begin(ByteBuffer slot);
  }

  /**
   * Makes a communicator: returns when it is ready.
   *
   * @param name as errors have it
   * @param call the function of NCCL that makes it
   * @throws org.sparkcollectives.CollectiveException if it cannot be made; nothing is left of it
   */
  static Communicator make(
      Nccl nccl, String name, String call, Deadline deadline, Beginning beginning) {
    Communicator made = new Communicator(nccl, name);
    boolean ready = false;
    try {
      made.check(call, beginning.begin(made.slot), deadline);
      ready = true;
      return made;
    } finally {
      if (!ready) {
        if (made.handle() == 0) {
          GIVEN_UP.add(made.slot);
        }
        made.abort();
      }
    }
  }

  long handle() {
    return slot.getLong(0);
  }

  /** How the communicator is; {@link NcclResult#SUCCESS} of one that is gone. */
  synchronized int asyncError() {
    // What is split from another has no handle for a while.
    return gone || handle() == 0 ? NcclResult.SUCCESS : nccl.asyncError(handle());
  }

  private synchronized boolean isGone() {
    return gone;
  }

  /** Waits until a call has taken effect; refuses what is an error. */
  void check(String call, int result, Deadline deadline) {
    int state = result;
    long begin = System.nanoTime();
    while (state == NcclResult.IN_PROGRESS || (state == NcclResult.SUCCESS && handle() == 0)) {
      deadline.check("NCCL's " + call + " of " + name);
      requireNotGone(call);
      if (System.nanoTime() - begin < SPIN_NANOS) {
        Thread.onSpinWait();
      } else {
        requireNotInterrupted(call);
        LockSupport.parkNanos(this, PAUSE_NANOS);
      }
      state = handle() == 0 ? NcclResult.IN_PROGRESS : asyncError();
    }
    // One that is gone reports no error, but nothing took effect in it either.
    requireNotGone(call);
    if (state != NcclResult.SUCCESS) {
      throw failure(call, state);
    }
  }

  private void requireNotGone(String call) {
    if (isGone()) {
      throw new NcclException(call + " of " + name + " was aborted", NcclResult.SUCCESS);
    }
  }

  private void requireNotInterrupted(String call) {
    if (Thread.currentThread().isInterrupted()) {
      throw new CollectiveException(
          "Interrupted while NCCL's " + call + " of " + name + " took effect",
          new InterruptedException());
    }
  }

  /** Refuses an error of a call that takes effect later. */
  void checkBegun(String call, int result) {
    if (result != NcclResult.SUCCESS && result != NcclResult.IN_PROGRESS) {
      throw failure(call, result);
    }
  }

  /** What an error of NCCL amounts to: where a peer is behind it, a break of the path. */
  RuntimeException failure(String call, int result) {
    String last = nccl.lastError(0);
    String text =
        call
            + " of "
            + name
            + " failed: "
            + nccl.errorString(result)
            + " ("
            + result
            + ", NCCL "
            + NcclLibrary.text(nccl.version())
            + ")"
            + (last.isEmpty() ? "" : ". Last error: " + last)
            + (result == NcclResult.REMOTE_ERROR || result == NcclResult.SYSTEM_ERROR
                ? ""
                : ". NCCL_DEBUG=INFO in the environment of the process makes NCCL say more");
    return result == NcclResult.REMOTE_ERROR || result == NcclResult.SYSTEM_ERROR
        ? new TransportException(text)
        : new NcclException(text, result);
  }

  /** Ends what is under way, and lets go of the communicator; idempotent. May block for a while. */
  void abort() {
    if (take()) {
      nccl.commAbort(handle());
    }
  }

  /** Lets go of the communicator when what is under way is done; idempotent. */
  void close(Duration timeout) {
    if (isGone()) {
      return;
    }
    boolean finalized = false;
    try {
      check("ncclCommFinalize", nccl.commFinalize(handle()), Deadline.in(timeout, () -> false));
      finalized = true;
    } finally {
      if (finalized) {
        if (take()) {
          nccl.commDestroy(handle());
        }
      } else {
        abort();
      }
    }
  }

  /** Whether the caller is the one who lets go of it. */
  private synchronized boolean take() {
    boolean first = !gone && handle() != 0;
    gone = true;
    return first;
  }

  @Override
  public String toString() {
    return name;
  }
}
