package org.sparkcollectives;

import java.util.List;

/**
 * A flight recorder's record of one operation. Times are nanoseconds since the epoch; 0 is a time
 * that has not come yet.
 *
 * @param id counts the records of a rank, over all its groups, from 0
 * @param group the group's name
 * @param opType the operation
 * @param sequenceNumber its number in its group, among collectives or among messages, from 0
 * @param dtype the type of the elements, as a label; empty of a barrier
 * @param inputShapes the shape of each tensor given; of more than 64 tensors their elements in one
 * @param outputShapes the shape of each tensor expected, likewise
 * @param agreedCount the number of elements on which all ranks must agree; 0 where it may differ
 * @param detail the reduction, root, peer and tag, as far as the operation has them
 * @param peer of a message the other rank in the group, once it is known; else {@link #NO_PEER}
 * @param state how far it came
 * @param thread the name of the thread that called it
 * @param createdNanos when the operation was called
 * @param startedNanos when it began to run
 * @param completedNanos when it was done, successfully or not
 * @param timeoutMillis how long it may take
 * @param notes what was noted of it beside the call
 */
public record FlightRecord(
    long id,
    String group,
    OpType opType,
    long sequenceNumber,
    String dtype,
    List<List<Long>> inputShapes,
    List<List<Long>> outputShapes,
    long agreedCount,
    String detail,
    int peer,
    State state,
    String thread,
    long createdNanos,
    long startedNanos,
    long completedNanos,
    long timeoutMillis,
    Notes notes) {

  /** The peer of a collective, and of a receive that has not been matched yet. */
  public static final int NO_PEER = -1;

  public FlightRecord {
    inputShapes = inputShapes.stream().map(List::copyOf).toList();
    outputShapes = outputShapes.stream().map(List::copyOf).toList();
  }

  /** Creates the record of an operation without notes. */
  public FlightRecord(
      long id,
      String group,
      OpType opType,
      long sequenceNumber,
      String dtype,
      List<List<Long>> inputShapes,
      List<List<Long>> outputShapes,
      long agreedCount,
      String detail,
      int peer,
      State state,
      String thread,
      long createdNanos,
      long startedNanos,
      long completedNanos,
      long timeoutMillis) {
    this(
        id,
        group,
        opType,
        sequenceNumber,
        dtype,
        inputShapes,
        outputShapes,
        agreedCount,
        detail,
        peer,
        state,
        thread,
        createdNanos,
        startedNanos,
        completedNanos,
        timeoutMillis,
        Notes.NONE);
  }

  /**
   * What was noted of an operation beside the call.
   *
   * @param label under which it was called, see {@link ProcessGroup#recordComm}; empty if none
   * @param inputHash of the elements that the rank gave, when it called: 8 hexadecimal digits;
   *     empty without the setting {@code spark.collectives.flightRecorder.hashes}, where the rank
   *     gave nothing, and on a device
   * @param outputHash of the elements that the operation wrote, when it had ended; empty likewise
   */
  public record Notes(String label, String inputHash, String outputHash) {

    /** Nothing was noted. */
    public static final Notes NONE = new Notes("", "", "");
  }

  /** The states of an operation. */
  public enum State {
    /**
     * It was called, and waits for the operations before it or, if it is a message, for its peer.
     */
    SCHEDULED,
    /** It is running. */
    STARTED,
    /** It has succeeded. */
    COMPLETED,
    /** It ended with an exception. */
    FAILED
  }

  /** Returns the number of elements given. */
  public long inputCount() {
    return count(inputShapes);
  }

  /** Returns the number of elements expected. */
  public long outputCount() {
    return count(outputShapes);
  }

  private static long count(List<List<Long>> shapes) {
    return shapes.stream()
        .mapToLong(shape -> shape.stream().mapToLong(Long::longValue).reduce(1, (a, b) -> a * b))
        .sum();
  }

  /** Returns the operation with its number, such as {@code all-reduce #7 (float32 x 1024, SUM)}. */
  public String describe() {
    String elements = dtype.isEmpty() ? "" : dtype + " x " + Math.max(inputCount(), outputCount());
    String separator = elements.isEmpty() || detail.isEmpty() ? "" : ", ";
    String inside = elements + separator + detail;
    return opType.label() + " #" + sequenceNumber + (inside.isEmpty() ? "" : " (" + inside + ")");
  }
}
