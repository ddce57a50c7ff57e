package org.sparkcollectives.ml.internal.kmeans;

import java.io.Serializable;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.feature.Instance;

/**
 * How many values rows have, and how many of these are not 0.
 *
 * @param values of all rows
 * @param nonZeros of them
 */
public record FeatureCounts(long values, long nonZeros) implements Serializable {

  /** Returns the counts of {@code rows}, by one job. */
  public static FeatureCounts of(JavaRDD<Instance> rows) {
    return rows.aggregate(new FeatureCounts(0, 0), FeatureCounts::and, FeatureCounts::and);
  }

  private FeatureCounts and(Instance row) {
    return new FeatureCounts(
        values + row.features().size(), nonZeros + row.features().numNonzeros());
  }

  private FeatureCounts and(FeatureCounts other) {
    return new FeatureCounts(values + other.values, nonZeros + other.nonZeros);
  }

  /**
   * Returns whether at least half of the values are not 0, by which Spark's documentation chooses
   * the solver. Its code of 4.0 adds up the numbers of the features instead of counting values.
   */
  public boolean isDense() {
    return nonZeros >= values * 0.5;
  }
}
