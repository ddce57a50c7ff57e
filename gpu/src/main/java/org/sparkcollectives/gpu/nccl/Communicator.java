package org.sparkcollectives.gpu.nccl;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.store.Backoff;

/**
 * An NCCL communicator, from the call that begins to create it to the call that releases it.
 *
 * <p>A call on a nonblocking communicator may return that it is in progress. {@link #check} then
 * waits, with a deadline, and ends when another thread aborts the communicator.
 *
 * <p>NCCL allows only one thread at a time to call it for a communicator, and none to be inside a
 * call when the communicator is aborted (NCCL's user guide, "Thread Safety" and "Fault Tolerance").
 * That holds for {@code ncclCommGetAsyncError} too: if it finds that a launch is over, it joins the
 * launch's thread and frees its data without a lock ({@code ncclGroupJobComplete} in its {@code
 * init.cc} and {@code group.cc}). So each thread that calls NCCL does so through {@link
 * #exclusively}, which works as a monitor: only the wait of {@link #check} lets others in.
 */
final class Communicator {

  private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
  private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private static final VarHandle HANDLE =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final Nccl nccl;
  private final String name;

  /**
   * NCCL may write the handle from a thread of its own, after the call that begins has returned.
   */
  private final ByteBuffer slot =
      ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());

  private final ReentrantLock calls = new ReentrantLock();
  private final Condition progress = calls.newCondition();

  /** True once nobody may call NCCL for it any more. Written under the lock. */
  private volatile boolean gone;

  /** True once NCCL has released it. */
  private volatile boolean released;

  private Communicator(Nccl nccl, String name) {
    this.nccl = nccl;
    this.name = name;
  }

  /** Begins to create a communicator, and returns NCCL's result. */
  interface Beginning {
    int begin(ByteBuffer slot);
  }

  /**
   * Creates a communicator, and returns once it is ready.
   *
   * @param name its name in errors
   * @param call the function of NCCL that creates it
   * @param late takes a communicator that could not be created, but whose handle NCCL may still
   *     write, see {@link #abortLate}
   * @throws org.sparkcollectives.CollectiveException if it cannot be created; nothing else is left
   *     of it
   */
  static Communicator create(
      Nccl nccl,
      String name,
      String call,
      Deadline deadline,
      Beginning beginning,
      Consumer<Communicator> late) {
    Communicator made = new Communicator(nccl, name);
    boolean ready = false;
    try {
      made.check(call, beginning.begin(made.slot), deadline);
      ready = true;
      return made;
    } finally {
      if (!ready) {
        if (made.handle() == 0) {
          late.accept(made);
        } else {
          made.abort();
        }
      }
    }
  }

  /**
   * Takes part in a call that creates communicators for other ranks, and none for this one.
   *
   * @param late as in {@link #create}: NCCL writes an empty handle once the others have called
   */
  static void createNone(Nccl nccl, String name, Beginning beginning, Consumer<Communicator> late) {
    Communicator none = new Communicator(nccl, name);
    boolean over = false;
    try {
      beginning.begin(none.slot);
      over = true;
    } finally {
      if (!over) {
        late.accept(none);
      }
    }
  }

  long handle() {
    return (long) HANDLE.getAcquire(slot, 0);
  }

  /**
   * Calls NCCL for this communicator, while no other thread does.
   *
   * @throws NcclException if it is gone
   */
  <T> T exclusively(Supplier<T> body) {
    calls.lock();
    try {
      requireNotGone("A call");
      return body.get();
    } finally {
      calls.unlock();
    }
  }

  /**
   * Returns the state of the communicator: {@link NcclResult#SUCCESS} if it is gone, {@link
   * NcclResult#IN_PROGRESS} while another thread calls NCCL for it. Does not wait for that thread.
   */
  int asyncError() {
    if (!calls.tryLock()) {
      return NcclResult.IN_PROGRESS;
    }
    try {
      return state();
    } finally {
      calls.unlock();
    }
  }

  private int state() {
    // A communicator that is split from another has no handle for a while.
    return gone || handle() == 0 ? NcclResult.SUCCESS : nccl.asyncError(handle());
  }

  /** Waits until a call has taken effect. Throws if it failed. */
  void check(String call, int result, Deadline deadline) {
    calls.lock();
    try {
      int state = result;
      long begin = System.nanoTime();
      while (state == NcclResult.IN_PROGRESS || (state == NcclResult.SUCCESS && handle() == 0)) {
        deadline.check("NCCL's " + call + " of " + name);
        requireNotGone(call);
        if (System.nanoTime() - begin < SPIN_NANOS) {
          Thread.onSpinWait();
        } else {
          awaitProgress(call);
        }
        state = handle() == 0 ? NcclResult.IN_PROGRESS : state();
      }
      // A communicator that is gone reports no error, but the call has not taken effect either.
      requireNotGone(call);
      if (state != NcclResult.SUCCESS) {
        throw failure(call, state);
      }
    } finally {
      calls.unlock();
    }
  }

  @SuppressWarnings("WaitNotInLoop") // The caller checks again.
  private void awaitProgress(String call) {
    try {
      progress.awaitNanos(PAUSE_NANOS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CollectiveException(
          "Interrupted while NCCL's " + call + " of " + name + " took effect", e);
    }
  }

  private void requireNotGone(String call) {
    if (gone) {
      throw new NcclException(call + " of " + name + " was aborted", NcclResult.SUCCESS);
    }
  }

  /** Throws if a call failed that takes effect later. */
  void checkBegun(String call, int result) {
    if (result != NcclResult.SUCCESS && result != NcclResult.IN_PROGRESS) {
      throw failure(call, result);
    }
  }

  /** Returns the exception for an error of NCCL: a broken connection if a peer is the cause. */
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

  /**
   * Aborts the operations in progress, and releases the communicator; idempotent. Blocks as long as
   * another thread is inside a call of NCCL for it, and then for a while of its own.
   */
  void abort() {
    if (claimRelease()) {
      try {
        nccl.commAbort(handle());
      } finally {
        released = true;
      }
    }
  }

  /** Releases the communicator once the operations in progress are done; idempotent. */
  void close(Duration timeout) {
    if (gone) {
      return;
    }
    boolean finalized = false;
    try {
      check(
          "ncclCommFinalize",
          exclusively(() -> nccl.commFinalize(handle())),
          Deadline.in(timeout, () -> false));
      finalized = true;
    } finally {
      if (finalized) {
        if (claimRelease()) {
          try {
            nccl.commDestroy(handle());
          } finally {
            released = true;
          }
        }
      } else {
        abort();
      }
    }
  }

  /** Claims the release, and returns whether the caller is the one who performs it. */
  private boolean claimRelease() {
    calls.lock();
    try {
      boolean first = !gone && handle() != 0;
      gone = true;
      progress.signalAll();
      return first;
    } finally {
      calls.unlock();
    }
  }

  /**
   * Aborts a communicator that NCCL may still create out of another one. Blocks until the other has
   * finished that, by itself or because it was aborted: NCCL writes the handle no later, even for a
   * failed creation.
   */
  void abortLate(Communicator other) {
    Backoff backoff = Backoff.every(SETTLE_NANOS);
    while (!other.isSettled()) {
      backoff.pause();
    }
    if (handle() != 0) {
      abort();
    }
  }

  private boolean isSettled() {
    return gone ? released : asyncError() != NcclResult.IN_PROGRESS || released;
  }

  @Override
  public String toString() {
    return name;
  }
}
