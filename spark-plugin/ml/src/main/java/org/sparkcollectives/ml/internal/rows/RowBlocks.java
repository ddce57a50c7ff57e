package org.sparkcollectives.ml.internal.rows;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.ml.feature.Instance;

/** Packs rows into blocks. */
public final class RowBlocks {

  /**
   * Rows of a block: enough for the vector instructions, and few enough for a block of 100 features
   * to stay in a core's own cache while it is used again and again.
   */
  private static final int ROWS = 128;

  private static final int BYTES_OF_SPARSE_VALUE = Integer.BYTES + Double.BYTES;

  private RowBlocks() {}

  /**
   * Returns blocks of the rows, in their order.
   *
   * @param features how many each row must have
   * @param held to which each row is added
   * @throws IllegalArgumentException if a row has more or fewer features
   * @throws HeapShortage if the rows are more than the rank may hold
   */
  public static List<RowBlock> of(Iterator<Instance> rows, int features, HeapBudget held) {
    List<RowBlock> blocks = new ArrayList<>();
    List<Instance> pending = new ArrayList<>(ROWS);
    while (rows.hasNext()) {
      Instance row = rows.next();
      RowWidth.require(row.features(), features);
      held.add(row.features());
      pending.add(row);
      if (pending.size() == ROWS || !rows.hasNext()) {
        blocks.add(block(pending));
        pending.clear();
      }
    }
    return blocks;
  }

  private static RowBlock block(List<Instance> rows) {
    long nonZeros = rows.stream().mapToLong(row -> row.features().numNonzeros()).sum();
    long denseBytes = (long) Double.BYTES * rows.size() * rows.get(0).features().size();
    return nonZeros * BYTES_OF_SPARSE_VALUE < denseBytes
        ? new SparseRowBlock(rows)
        : new DenseRowBlock(rows);
  }
}
