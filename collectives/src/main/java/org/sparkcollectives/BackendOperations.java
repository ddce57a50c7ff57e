package org.sparkcollectives;

import java.time.Duration;
import java.util.List;

/**
 * What a group does for the operations that a backend carries out by itself: it numbers and records
 * them, watches their deadlines, and ends them when the group fails; and their failures become the
 * group's. Thread-safe.
 *
 * <p>With this, errors, dumps, desync reports and {@link ErrorHandling} are the same as those of
 * the operations in host memory, with which they are counted in one sequence.
 */
public interface BackendOperations {

  /**
   * Begins an operation: from now on its deadline runs. To be called in the same order on all ranks
   * before anything is put into a device's queue.
   *
   * <p>Does not block, but at {@link DebugLevel#DETAIL}: then until all ranks have compared what
   * they call, unless it is a message. Where they differ, and where a rank does not come in time,
   * the operation has failed when this returns, see {@link Begun#work}, and must not be carried
   * out.
   *
   * @param call what the user called
   * @param timeout how long it may take
   * @param outputs what it writes
   * @param operation how it is seen whether it is done
   */
  Begun begin(BackendCall call, Duration timeout, List<Tensor> outputs, BackendOperation operation);

  /** An operation that was begun. One of {@link #completed} and {@link #failed} ends it. */
  interface Begun {

    /** What the user gets. */
    Work work();

    /** The operation as messages have it, such as {@code all-reduce #7 (float32 x 8, SUM)}. */
    String describe();

    /** It has begun to run. */
    void started();

    /**
     * It is done. Also found out by who awaits it, see {@link BackendOperation#isDone}. If the
     * group has failed before, so has the operation.
     */
    void completed();

    /**
     * It failed, and the group with it, on all ranks unless {@link ErrorHandling} says otherwise.
     * Blocks for a moment, in which peers may tell of a better cause.
     */
    void failed(Throwable cause);
  }

  /** Whether the group has failed. */
  boolean hasFailed();

  /** What the operations of the failed group throw. */
  CollectiveException exceptionFor(String operation);

  /** Runs {@code listener}, which must not block, once when the group fails, or now if it has. */
  void onFailure(Runnable listener);

  /**
   * Something has failed that belongs to no operation, and the group with it. Of a {@link
   * TransportException} it is taken that a peer's failure may be behind it. Does not block.
   */
  void fail(Throwable cause);
}
