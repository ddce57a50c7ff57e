package org.sparkcollectives;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Says what a rank's operations in a {@link ProcessGroup} do, have done, and why they failed. Asks
 * no other rank.
 */
public interface GroupDiagnostics {

  /**
   * Explains which algorithm carries out each collective of this group on tensors in host memory,
   * by size, and why the others do not. The same on all ranks; asks no other rank, and does not
   * block. There are no choices where the backend leaves them to a library.
   *
   * @param dtype the type of the elements
   * @param op the reduction
   * @throws IllegalArgumentException if the type cannot be reduced so
   */
  AlgorithmChoices explain(DType dtype, ReduceOp op);

  /** Explains the algorithms for sums of {@code float32}. */
  default AlgorithmChoices explain() {
    return explain(DType.FLOAT32, ReduceOp.SUM);
  }

  /**
   * Returns which backend carries out the operations for each kind of device, such as {@code
   * cpu:netty}.
   */
  String backend();

  /**
   * Registers {@code hook}, which is called with the record of each operation of this group on this
   * rank that ends from now on, whether it succeeded or failed. The calls come in the order in
   * which the operations end, one at a time, on a thread of the library. Exceptions of the hook are
   * logged. {@link ProcessGroup#close} waits some seconds for it. Records queue up if a hook is
   * slower than the operations.
   *
   * <p>As c10d's completion hook, but there may be several.
   */
  void onCompletion(Consumer<FlightRecord> hook);

  /**
   * Labels the operations that the calling thread calls in this group until the label is closed:
   * c10d's {@code record_comm}. Flight records and their dumps, traces, and the events of Java
   * Flight Recorder have the label beside the operation. A label within another replaces it until
   * it is closed. Local, and free of communication: other ranks may have other labels.
   *
   * @param name not empty
   * @throws IllegalArgumentException if it is empty
   * @throws IllegalStateException if the group is closed
   */
  CommLabel recordComm(String name);

  /** Returns this rank's recent operations and how far they came. */
  FlightRecorder flightRecorder();

  /**
   * Sums up this rank's operations in this group since it was made: how many, how large, by which
   * algorithm, how long. May be called at any time by any thread, even when the group has failed or
   * is closed; no operation waits for it. It does not depend on the size of the flight recorder.
   *
   * <p>Counts what the group's backends carry out in host memory, and what they report through
   * {@link org.sparkcollectives.spi.BackendOperations}. Operations of the backend {@code fake} are
   * done by nobody, and are not counted. Operations that the library itself makes of a call, such
   * as those of {@link ProcessGroup#objects} and {@link ProcessGroup#coalesce}, count one by one.
   */
  GroupStatistics statistics();

  /**
   * Sums up how long threads of this rank have waited in {@link Work#await()} for operations of
   * this group, by kind of operation, since the group was made. May be called at any time by any
   * thread, even when the group has failed or is closed; no operation waits for it. A small time
   * beside a large one in {@link #statistics} says that communication was hidden behind other work.
   *
   * @return one for each kind that was waited for, in the order of {@link OpType}; of the
   *     operations that {@link #statistics} counts
   */
  List<WaitStatistics> waits();

  /**
   * Says how far this rank's program has come: the tab "Collectives" in Spark's UI shows it, and
   * the driver's metrics have the share that is done. What was said before is replaced. It goes to
   * the driver with this rank's next statistics; nothing waits for it. If several ranks call this,
   * the lowest of them is shown.
   *
   * <pre>{@code
   * world.progress(epoch, epochs, "loss " + loss);
   * }</pre>
   *
   * @param done how much is done, from 0 to {@code total}
   * @param total of how much, such as the number of epochs; 1 or more
   * @param text anything else, such as the loss; may be empty, and is cut after {@value
   *     GroupStatistics.Progress#MOST_CHARACTERS} characters
   * @throws IllegalArgumentException if {@code total} is less than 1, or {@code done} is not from 0
   *     to {@code total}
   * @throws IllegalStateException if the group is closed
   */
  void progress(long done, long total, String text);

  /**
   * Turns the NaN check of this rank's operations in this group on or off from now on, whatever
   * {@link GroupOptions#withNanCheck} said when it was made: c10d's {@code _set_enable_nan_check}.
   * All handles of the group share the setting. Groups that are made from it later inherit what the
   * options said.
   */
  void setNanCheck(boolean enabled);

  /**
   * Has the GPU measure this rank's operations in this group that begin from now on, by events that
   * cost a little: c10d's {@code _enable_collectives_timing}. {@link Work#durationMillis} then
   * returns what the GPU has measured; otherwise, and for operations in host memory, what the host
   * has seen. All handles of the group share the setting, groups that are made from it do not.
   */
  void enableTiming();

  /**
   * Returns whether the group has failed or was aborted, so that its operations throw. Closing does
   * not count. Does not block; false for a failure that has not been reported to this rank yet.
   */
  boolean isFailed();

  /**
   * Returns why the group has failed: the record of the first cause as far as this rank knows it,
   * which may be its own failure. Empty while {@link #isFailed} is false. The exception of a single
   * operation, with its own cause, is that of its {@link Work}.
   */
  Optional<Failure> failure();
}
