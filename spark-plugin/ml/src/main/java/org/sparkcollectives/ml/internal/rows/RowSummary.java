package org.sparkcollectives.ml.internal.rows;

import java.io.Serializable;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.linalg.DenseVector;
import org.apache.spark.ml.stat.MultiClassSummarizer;

/**
 * The moments of rows, as Spark's own estimators compute them: with the same arithmetic in the same
 * order, so that those of all ranks, merged in the order of ranks, have the bits of a driver that
 * merges its tasks' in this order.
 */
final class RowSummary implements Serializable {

  private static final long serialVersionUID = 1;

  private final Labels kind;
  private final FeatureMoments features = new FeatureMoments();
  private final FeatureMoments values = new FeatureMoments();
  private MultiClassSummarizer classes = new MultiClassSummarizer();

  RowSummary(Labels kind) {
    this.kind = kind;
  }

  void add(Instance row) {
    double weight = kind == Labels.TIMES ? 1 : row.weight();
    features.add(row.features(), weight);
    if (kind == Labels.CLASSES) {
      classes.add(row.label(), weight);
    } else if (kind == Labels.VALUES) {
      values.add(new DenseVector(new double[] {row.label()}), weight);
    }
  }

  /** Returns how many bytes the moments of the features take. */
  long bytes() {
    return features.bytes();
  }

  void merge(RowSummary other) {
    features.merge(other.features);
    values.merge(other.values);
    classes = classes.merge(other.classes); // Adds the smaller one to the larger, be it the other.
  }

  Statistics statistics() {
    if (features.weightSum() == 0) {
      return Statistics.ofNoRows();
    }
    boolean labels = values.weightSum() > 0;
    return new Statistics(
        features.mean(),
        roots(features.variance()),
        kind == Labels.CLASSES ? classes.histogram() : new double[0],
        classes.countInvalid(),
        labels ? values.mean()[0] : 0,
        labels ? Math.sqrt(values.variance()[0]) : 0);
  }

  private static double[] roots(double[] variances) {
    double[] roots = new double[variances.length];
    for (int i = 0; i < roots.length; i++) {
      roots[i] = Math.sqrt(variances[i]);
    }
    return roots;
  }
}
