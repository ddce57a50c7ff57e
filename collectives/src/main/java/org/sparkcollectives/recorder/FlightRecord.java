package org.sparkcollectives.recorder;

import org.sparkcollectives.OpType;

/**
 * What the flight recorder keeps of one operation. Times are nanoseconds since the epoch, 0 while
 * they have not come.
 *
 * @param id counts the records of a recorder
 * @param group the group's name
 * @param opType the operation
 * @param sequenceNumber its number in its group, among collectives or among messages
 * @param dtype the type of the elements, as a label
 * @param inputCount the number of elements given
 * @param outputCount the number of elements expected
 * @param detail the reduction, root, peer and tag, as far as the operation has them
 * @param state how far it came
 * @param createdNanos when the operation was called
 * @param startedNanos when it began to run
 * @param completedNanos when it was done, well or not
 * @param timeoutMillis how long it may take
 */
public record FlightRecord(
    long id,
    String group,
    OpType opType,
    long sequenceNumber,
    String dtype,
    long inputCount,
    long outputCount,
    String detail,
    State state,
    long createdNanos,
    long startedNanos,
    long completedNanos,
    long timeoutMillis) {

  /** How far an operation came. */
  public enum State {
    /** Called, and waiting for the operations before it. */
    SCHEDULED,
    /** Running. */
    STARTED,
    /** Done well. */
    COMPLETED,
    /** Ended by an exception. */
    FAILED
  }
}
