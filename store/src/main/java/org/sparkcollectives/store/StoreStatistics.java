package org.sparkcollectives.store;

import java.io.Serializable;
import java.util.List;

/**
 * Counts the calls of one handle of a store, those of its views included, since it was made: as
 * c10d's counters of a {@code TCPStore}'s client.
 *
 * @param calls by method, in the order of their first calls
 */
public record StoreStatistics(List<Calls> calls) implements Serializable {

  /** The statistics of a store that has counted nothing. */
  public static final StoreStatistics NONE = new StoreStatistics(List.of());

  public StoreStatistics {
    calls = List.copyOf(calls);
  }

  /**
   * Counts the calls of one method. A time is that from the call to its end on the calling thread:
   * of a method that waits for a key, a value or other callers the wait is part of it.
   *
   * @param method the name of the method of {@link Store} that does it; one that is made of another
   *     counts as that: both {@code set} and {@code multiSet} as {@code set}, {@code multiGet} as
   *     {@code get}, and {@code deleteKeys} as {@code deleteKey}
   * @param count how many have ended, those that failed included
   * @param failures how many have thrown
   * @param seconds how long all of them took
   * @param longestSeconds how long the slowest took
   */
  public record Calls(
      String method, long count, long failures, double seconds, double longestSeconds)
      implements Serializable {

    /** Returns how long a call took in the mean; 0 if there was none. */
    public double meanSeconds() {
      return count == 0 ? 0 : seconds / count;
    }
  }

  /** Returns the calls of one method; all 0 if there was none. */
  public Calls of(String method) {
    return calls.stream()
        .filter(each -> each.method().equals(method))
        .findFirst()
        .orElseGet(() -> new Calls(method, 0, 0, 0, 0));
  }
}
