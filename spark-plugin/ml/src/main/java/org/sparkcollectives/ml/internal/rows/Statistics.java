package org.sparkcollectives.ml.internal.rows;

import java.io.Serializable;

/**
 * What the ranks know of all rows before they fit them.
 *
 * @param mean the mean of each feature
 * @param std the standard deviation of each feature
 * @param histogram the weight of each class; empty where labels are no classes
 * @param invalidLabels how many labels are no class
 * @param labelMean the mean of the labels, where they are values
 * @param labelStd their standard deviation
 */
public record Statistics(
    double[] mean,
    double[] std,
    double[] histogram,
    long invalidLabels,
    double labelMean,
    double labelStd)
    implements Serializable {

  /** Returns the statistics where no row has a weight. */
  static Statistics ofNoRows() {
    return new Statistics(new double[0], new double[0], new double[0], 0, 0, 0);
  }

  /** Returns whether no row has a weight. */
  public boolean isEmpty() {
    return mean.length == 0;
  }

  /** Returns how many features a row has. */
  public int features() {
    return mean.length;
  }

  /** Returns what a feature is multiplied with to have a deviation of 1; 0 for a constant one. */
  public double[] inverseStd() {
    double[] inverse = new double[std.length];
    for (int i = 0; i < inverse.length; i++) {
      inverse[i] = std[i] == 0 ? 0 : 1 / std[i];
    }
    return inverse;
  }

  /** Returns the mean of each feature after this scaling. */
  public double[] scaledMean() {
    double[] scaled = inverseStd();
    for (int i = 0; i < scaled.length; i++) {
      scaled[i] *= mean[i];
    }
    return scaled;
  }

  /** Returns whether a feature has one value, other than 0, in all rows. */
  public boolean hasConstantFeature() {
    for (int i = 0; i < std.length; i++) {
      if (std[i] == 0 && mean[i] != 0) {
        return true;
      }
    }
    return false;
  }
}
