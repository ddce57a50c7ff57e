package org.sparkcollectives.ml.internal.rows;

import java.util.List;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.linalg.SparseVector;

/** Rows of which only the values other than 0 are kept. */
final class SparseRowBlock implements RowBlock {

  private final Instance[] rows;
  private final SparseVector[] vectors;

  SparseRowBlock(List<Instance> rows) {
    this.rows = rows.toArray(Instance[]::new);
    this.vectors = rows.stream().map(row -> row.features().toSparse()).toArray(SparseVector[]::new);
  }

  @Override
  public int size() {
    return rows.length;
  }

  @Override
  public double weight(int row) {
    return rows[row].weight();
  }

  @Override
  public double label(int row) {
    return rows[row].label();
  }

  @Override
  public void dots(double[] factors, int offset, double[] dots) {
    for (int row = 0; row < rows.length; row++) {
      int[] indices = vectors[row].indices();
      double[] values = vectors[row].values();
      double dot = 0;
      for (int i = 0; i < indices.length; i++) {
        dot = Math.fma(factors[offset + indices[i]], values[i], dot);
      }
      dots[row] = dot;
    }
  }

  @Override
  public void addTo(int[] clusters, double[] sums) {
    for (int row = 0; row < rows.length; row++) {
      int[] indices = vectors[row].indices();
      double[] values = vectors[row].values();
      int offset = clusters[row] * vectors[row].size();
      for (int i = 0; i < indices.length; i++) {
        sums[offset + indices[i]] += values[i] * rows[row].weight();
      }
    }
  }

  @Override
  public void addMoments(double[] weights, double[] sums, int rowOffset, int productOffset) {
    for (int row = 0; row < rows.length; row++) {
      int[] indices = vectors[row].indices();
      double[] values = vectors[row].values();
      for (int i = 0; i < indices.length; i++) {
        double weighted = weights[row] * values[i];
        sums[rowOffset + indices[i]] += weighted;
        int column = productOffset + indices[i] * (indices[i] + 1) / 2;
        for (int j = 0; j <= i; j++) {
          sums[column + indices[j]] += weighted * values[j];
        }
      }
    }
  }
}
