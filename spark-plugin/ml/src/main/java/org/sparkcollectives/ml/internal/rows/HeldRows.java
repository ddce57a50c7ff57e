package org.sparkcollectives.ml.internal.rows;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.feature.InstanceBlock;
import org.apache.spark.ml.linalg.DenseMatrix;
import org.apache.spark.ml.linalg.Matrix;
import org.apache.spark.ml.linalg.SparseMatrix;

/**
 * The rows of a rank, in memory for the whole fit, in Spark's blocks of rows.
 *
 * <p>The blocks are packed while the rows are read and scaled in place later, so that a row is
 * never held twice. A block is therefore packed by the unscaled values: where a feature is constant
 * and not 0, Spark, which packs the scaled ones, may take the sparse form where this has the dense
 * one. The sums are the same but for their last bits.
 */
public final class HeldRows {

  private final List<InstanceBlock> blocks = new ArrayList<>();
  private final long capacity;
  private long bytes;

  private HeldRows(long capacity) {
    this.capacity = capacity;
  }

  /**
   * Reads {@code rows} until they end, or until they are more than this rank may hold.
   *
   * @param blockBytes the most bytes of a block
   * @param capacity the most bytes of all
   * @param summary to which each row is added
   */
  static HeldRows read(
      Iterator<Instance> rows, long blockBytes, long capacity, RowSummary summary) {
    HeldRows held = new HeldRows(capacity);
    InstanceBlocks packed = new InstanceBlocks(counted(rows, summary), blockBytes);
    while (held.fit() && packed.hasNext()) {
      InstanceBlock block = packed.next();
      held.blocks.add(block);
      held.bytes += bytes(block);
    }
    if (!held.fit()) {
      held.blocks.clear();
    }
    return held;
  }

  private static Iterator<Instance> counted(Iterator<Instance> rows, RowSummary summary) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public Instance next() {
        Instance row = rows.next();
        summary.add(row);
        return row;
      }
    };
  }

  /** Returns whether the rows that were read are not more than this rank may hold. */
  boolean fit() {
    return bytes <= capacity;
  }

  /** Returns how many bytes the rows take. */
  public long bytes() {
    return bytes;
  }

  /** Returns the most bytes that this rank may hold. */
  public long capacity() {
    return capacity;
  }

  /** Returns the rows. */
  public List<InstanceBlock> blocks() {
    return blocks;
  }

  /** Multiplies each feature with its own of the {@code factors}, in place. */
  public void scale(double[] factors) {
    for (InstanceBlock block : blocks) {
      if (block.matrix() instanceof DenseMatrix dense) {
        scale(dense, factors);
      } else {
        scale((SparseMatrix) block.matrix(), factors);
      }
    }
  }

  /** Blocks are packed row after row. */
  private static void scale(DenseMatrix rows, double[] factors) {
    double[] values = rows.values();
    for (int i = 0; i < values.length; ) {
      for (double factor : factors) {
        values[i++] *= factor;
      }
    }
  }

  private static void scale(SparseMatrix rows, double[] factors) {
    double[] values = rows.values();
    int[] features = rows.rowIndices();
    for (int i = 0; i < values.length; i++) {
      values[i] *= factors[features[i]];
    }
  }

  private static long bytes(InstanceBlock block) {
    Matrix matrix = block.matrix();
    long bytes = 8L * (block.labels().length + block.weights().length);
    if (matrix instanceof SparseMatrix sparse) {
      return bytes + 12L * sparse.values().length + 4L * sparse.colPtrs().length;
    }
    return bytes + 8L * ((DenseMatrix) matrix).values().length;
  }
}
