package org.sparkcollectives;

import java.util.List;

/**
 * Thrown when two ranks called different operations, or the same operation with different sizes. If
 * it ends the group, every rank throws it, with the same two calls.
 */
public final class CollectiveMismatchException extends CollectiveException {

  private final List<CollectiveCall> calls;

  /** Creates an exception whose message names both ranks and both calls. */
  public CollectiveMismatchException(String message) {
    this(message, List.of());
  }

  /**
   * Creates an exception whose message names both ranks and both calls.
   *
   * @param calls the two calls, of different ranks; empty where they are not known
   */
  public CollectiveMismatchException(String message, List<CollectiveCall> calls) {
    super(message);
    if (!calls.isEmpty() && calls.size() != 2) {
      throw new IllegalArgumentException("Two calls differ, not " + calls);
    }
    this.calls = List.copyOf(calls);
  }

  /**
   * Returns the two calls that do not match, each with its rank; empty where they are not known, as
   * where ranks are not in the same checkpoint or transfer of an object.
   */
  public List<CollectiveCall> calls() {
    return calls;
  }
}
