package org.sparkcollectives;

import java.util.List;

/**
 * Two ranks called different operations, or the same with different sizes. Where it ends the group,
 * every rank throws it, with the same two calls.
 */
public final class CollectiveMismatchException extends CollectiveException {

  private final List<CollectiveCall> calls;

  /** With a message that names both ranks and both calls. */
  public CollectiveMismatchException(String message) {
    this(message, List.of());
  }

  /**
   * With a message that names both ranks and both calls.
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
   * The two calls that do not belong together, each with its rank; empty where they are not known,
   * as where ranks are not in the same checkpoint or transfer of an object.
   */
  public List<CollectiveCall> calls() {
    return calls;
  }
}
