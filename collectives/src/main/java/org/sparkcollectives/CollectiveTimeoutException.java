package org.sparkcollectives;

import java.util.List;

/**
 * Thrown when an operation did not end within its deadline; names the ranks that have not arrived.
 */
public final class CollectiveTimeoutException extends CollectiveException {

  private final String operation;
  private final long sequenceNumber;
  private final int[] missingRanks;

  /**
   * Creates an exception with the whole message, the operation, and the group ranks that had not
   * joined it.
   */
  public CollectiveTimeoutException(
      String message, String operation, long sequenceNumber, List<Integer> missingRanks) {
    super(message);
    this.operation = operation;
    this.sequenceNumber = sequenceNumber;
    this.missingRanks = missingRanks.stream().mapToInt(Integer::intValue).toArray();
  }

  /** Returns the operation that timed out, such as {@code all-reduce}. */
  public String operation() {
    return operation;
  }

  /** Returns the operation's number in its group. */
  public long sequenceNumber() {
    return sequenceNumber;
  }

  /** Returns the group ranks that had not joined the operation; empty where that is not known. */
  public int[] missingRanks() {
    return missingRanks.clone();
  }
}
