package org.sparkcollectives.ml.internal.rows;

import org.apache.spark.ml.linalg.SparseVector;
import org.apache.spark.ml.linalg.Vector;

/** Counts the bytes of the rows that a rank holds, and ends the fit before its heap is full. */
public final class HeapBudget {

  /** Headers of the objects that a row consists of, its label, its weight and a reference to it. */
  private static final int BYTES_OF_ROW = 96;

  private final long capacity;
  private long bytes;

  private HeapBudget(long capacity) {
    this.capacity = capacity;
  }

  /**
   * Returns a count for the rank that runs in this thread. It ends at half of the rank's share of
   * the heap, because Spark's cache may have the same rows in the other half.
   */
  public static HeapBudget ofThisRank() {
    return upTo(HeapShare.besideAnyCache());
  }

  static HeapBudget upTo(long capacity) {
    return new HeapBudget(capacity);
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
    bytes += BYTES_OF_ROW + values;
    if (bytes > capacity) {
      throw new HeapShortage(capacity);
    }
  }
}
