package org.sparkcollectives.spi;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DebugLevel;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.Work;

/**
 * Takes the operations that a backend carries out by itself into its group. The group numbers and
 * records them, watches their deadlines, and ends them when it fails; their failures become the
 * group's. Thread-safe.
 *
 * <p>Errors, dumps, desync reports and {@link ErrorHandling} are therefore the same as those of the
 * operations in host memory, and both are counted in one sequence.
 */
public interface BackendOperations {

  /**
   * Begins an operation, whose deadline runs from now on. Must be called in the same order on all
   * ranks, before anything is enqueued on a device.
   *
   * <p>Does not block, except at {@link DebugLevel#DETAIL} for a collective: then it blocks until
   * all ranks have compared their calls. If the calls differ, or a rank does not come in time, the
   * operation has failed when this returns, see {@link Begun#work}, and must not be carried out.
   *
   * @param spec what the user called
   * @param timeout how long it may take
   * @param outputs what it writes
   * @param operation how it is seen whether it is done
   */
  Begun begin(
      OperationSpec spec, Duration timeout, List<Tensor> outputs, BackendOperation operation);

  /** An operation that was begun. One of {@link #completed} and {@link #failed} ends it. */
  interface Begun {

    /** Returns the work that the user gets. */
    Work work();

    /**
     * Returns the operation as messages name it, such as {@code all-reduce #7 (float32 x 8, SUM)}.
     */
    String describe();

    /** Records that the operation has begun to run. */
    void started();

    /**
     * Records that the operation is done. A waiter may find that out first, see {@link
     * BackendOperation#isDone}. If the group has failed before, so has the operation.
     */
    void completed();

    /**
     * Fails the operation and with it the group, on all ranks unless {@link ErrorHandling} says
     * otherwise. Blocks for a moment, in which peers may report a better cause.
     */
    void failed(Throwable cause);
  }

  /** Returns whether the group has failed. */
  boolean hasFailed();

  /** Returns the exception that an operation of the failed group throws. */
  CollectiveException exceptionFor(String operation);

  /** Runs {@code listener}, which must not block, once when the group fails, or now if it has. */
  void onFailure(Runnable listener);

  /**
   * Fails the group because of something that belongs to no operation. If {@code cause} is a {@link
   * TransportException}, a peer's failure is assumed to be behind it. Does not block.
   */
  void fail(Throwable cause);
}
