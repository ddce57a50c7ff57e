package org.sparkcollectives.lightgbm;

import java.util.Arrays;
import java.util.Objects;

/**
 * The rows of one rank, to train on or to evaluate: features, labels and weights.
 *
 * <p>Holds the features once, as {@code double}; LightGBM makes bins of a byte or two of them.
 */
public final class TrainingRows {

  private final int columns;
  private double[] features = new double[0];
  private float[] labels = new float[0];
  private float[] weights = new float[0];
  private int size;
  private boolean weighted;

  /**
   * Creates an empty list of rows.
   *
   * @param columns how many features a row has
   */
  public TrainingRows(int columns) {
    if (columns < 1) {
      throw new IllegalArgumentException("Rows need at least one feature, not " + columns);
    }
    this.columns = columns;
  }

  /** Adds a row of weight 1. */
  public void add(double[] features, double label) {
    add(features, label, 1);
  }

  /**
   * Adds a row.
   *
   * @param features as many as there are columns; NaN for a missing value
   * @throws IllegalArgumentException if the number of features is wrong, the label is NaN or not
   *     finite as a float, or the weight is negative or likewise
   */
  public void add(double[] features, double label, double weight) {
    Objects.requireNonNull(features, "features");
    if (features.length != columns) {
      throw new IllegalArgumentException(
          "Row " + size + " has " + features.length + " features instead of " + columns);
    }
    if (Double.isNaN(label)) {
      throw new IllegalArgumentException("Row " + size + " has no label (NaN)");
    }
    if (Float.isInfinite((float) label)) {
      throw new IllegalArgumentException(
          "Row " + size + " has the label " + label + ", which LightGBM's float cannot hold");
    }
    if (!(weight >= 0) || Float.isInfinite((float) weight)) {
      throw new IllegalArgumentException("Row " + size + " has the weight " + weight);
    }
    if (size == labels.length) {
      grow();
    }
    System.arraycopy(features, 0, this.features, size * columns, columns);
    labels[size] = (float) label;
    weights[size] = (float) weight;
    weighted |= weight != 1;
    size++;
  }

  private void grow() {
    long rows = Math.max(64L, (long) size + (size >> 1));
    int most = (Integer.MAX_VALUE - 8) / columns;
    if (size >= most) {
      throw new IllegalStateException(
          "A rank holds at most "
              + most
              + " rows of "
              + columns
              + " features; train with more ranks");
    }
    int capacity = (int) Math.min(rows, most);
    features = Arrays.copyOf(features, capacity * columns);
    labels = Arrays.copyOf(labels, capacity);
    weights = Arrays.copyOf(weights, capacity);
  }

  /** Returns the number of rows. */
  public int size() {
    return size;
  }

  /** Returns the number of features of a row. */
  public int columns() {
    return columns;
  }

  /** Returns whether a row has another weight than 1. */
  public boolean isWeighted() {
    return weighted;
  }

  /** Returns the features, row by row; the array may be longer. Not a copy. */
  public double[] features() {
    return features;
  }

  /** Returns the labels; the array may be longer. Not a copy. */
  public float[] labels() {
    return labels;
  }

  /** Returns the weights; the array may be longer. Not a copy. */
  public float[] weights() {
    return weights;
  }
}
