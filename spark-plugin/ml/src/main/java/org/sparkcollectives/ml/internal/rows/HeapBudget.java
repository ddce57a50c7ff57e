package org.sparkcollectives.ml.internal.rows;

import org.apache.spark.ml.linalg.SparseVector;
import org.apache.spark.ml.linalg.Vector;

/**
 * Counts the bytes of what a rank holds for a fit, its rows and the state of the iterations, and
 * ends the fit before its heap is full.
 */
public final class HeapBudget {

  /** Headers of the objects that a row consists of, its label, its weight and a reference to it. */
  private static final int BYTES_OF_ROW = 96;

  /**
   * How often a rank holds the state: as it was and as it becomes, what it contributes and all
   * ranks' sums, and what the next state is made of, twice on the way to the other ranks.
   */
  private static final int STATES = 8;

  private final long capacity;
  private long bytes;

  private HeapBudget(long capacity) {
    this.capacity = capacity;
  }

  /**
   * Returns a count for the rank that runs in this thread. It ends at half of the rank's share of
   * the heap, because Spark's cache may have the same rows in the other half.
   *
   * @param state how many numbers the state of the iterations consists of
   * @throws HeapShortage if the state alone is too large
   */
  public static HeapBudget ofThisRank(long state) {
    return upTo(HeapShare.besideAnyCache(), state);
  }

  static HeapBudget upTo(long capacity, long state) {
    HeapBudget budget = new HeapBudget(capacity);
    budget.count(STATES * Double.BYTES * state);
    return budget;
  }

  /**
   * Adds a row.
   *
   * @throws HeapShortage if it is one too many
   */
  public void add(Vector row) {
    long values =
        row instanceof SparseVector sparse
            ? (long) sparse.values().length * (Integer.BYTES + Double.BYTES)
            : (long) row.size() * Double.BYTES;
    count(BYTES_OF_ROW + values);
  }

  private void count(long more) {
    bytes += more;
    if (bytes > capacity) {
      throw new HeapShortage(capacity);
    }
  }
}
