package org.sparkcollectives.ml.internal.rows;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.feature.InstanceBlock;
import org.apache.spark.ml.feature.InstanceBlock$;
import org.apache.spark.ml.linalg.DenseMatrix;
import org.apache.spark.ml.linalg.DenseVector;
import org.apache.spark.ml.linalg.Matrices$;
import org.apache.spark.ml.linalg.Vector;

/**
 * Packs rows into Spark's blocks of rows: as many in a block, and dense or sparse, as Spark's own
 * {@code blokifyWithMaxMemUsage} does, on which the last bits of sums depend. That one takes a
 * dense matrix together through an iterator of boxed pairs, which is several times slower.
 */
final class InstanceBlocks {

  private static final long ARRAY_HEADER_BYTES = 12;

  private final Iterator<Instance> rows;
  private final long blockBytes;
  private int features = -1;

  /** Of the next block. */
  private final List<Instance> pending = new ArrayList<>();

  private long nonZeros;
  private boolean unitWeights;

  /**
   * Creates the blocks.
   *
   * @param rows are read as the blocks are taken
   * @param blockBytes how large a block becomes at least, unless the rows end
   */
  InstanceBlocks(Iterator<Instance> rows, long blockBytes) {
    this.rows = rows;
    this.blockBytes = blockBytes;
  }

  boolean hasNext() {
    return rows.hasNext();
  }

  InstanceBlock next() {
    pending.clear();
    nonZeros = 0;
    unitWeights = true;
    do {
      take(rows.next());
    } while (rows.hasNext() && bytes() < blockBytes);
    return denseBytes() < sparseBytes() ? dense() : sparse();
  }

  private void take(Instance row) {
    if (features < 0) {
      features = row.features().size();
    } else {
      RowWidth.require(row.features(), features);
    }
    pending.add(row);
    nonZeros += nonZeros(row.features());
    unitWeights &= row.weight() == 1;
  }

  private static int nonZeros(Vector row) {
    if (!(row instanceof DenseVector dense)) {
      return row.numNonzeros();
    }
    int count = 0;
    for (double value : dense.values()) {
      if (value != 0) {
        count++;
      }
    }
    return count;
  }

  private long bytes() {
    int columns = unitWeights ? 1 : 2; // The labels, and the weights where there are any.
    return Math.min(denseBytes(), sparseBytes())
        + (long) columns * Double.BYTES * pending.size()
        + 2 * ARRAY_HEADER_BYTES;
  }

  private long denseBytes() {
    return Matrices$.MODULE$.getDenseSize(features, pending.size());
  }

  private long sparseBytes() {
    return Matrices$.MODULE$.getSparseSize(nonZeros, pending.size() + 1L);
  }

  private InstanceBlock dense() {
    double[] values = new double[Math.multiplyExact(pending.size(), features)];
    int offset = 0;
    for (Instance row : pending) {
      System.arraycopy(row.features().toArray(), 0, values, offset, features);
      offset += features;
    }
    return new InstanceBlock(
        pending.stream().mapToDouble(Instance::label).toArray(),
        unitWeights ? new double[0] : pending.stream().mapToDouble(Instance::weight).toArray(),
        new DenseMatrix(pending.size(), features, values, true));
  }

  @SuppressWarnings("deprecation") // The converters' successors do not exist in Scala 2.12.
  private InstanceBlock sparse() {
    return InstanceBlock$.MODULE$
        .blokifyWithMaxMemUsage(
            scala.collection.JavaConverters.asScalaIterator(pending.iterator()), Long.MAX_VALUE)
        .next();
  }
}
