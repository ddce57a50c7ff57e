package org.sparkcollectives.lightgbm;

import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/**
 * Decides for all ranks alike when to stop: by the first metric, as the mean over the validation
 * rows of all ranks, weighted by their number.
 *
 * <p>That is the metric of all rows where the metric is a mean over rows (l1, l2, logloss, error);
 * of rmse the squares are averaged. Of a metric of an order, such as auc and ndcg, it is the mean
 * of the ranks' own.
 */
final class EarlyStopping {

  private static final Logger LOG = LoggerFactory.getLogger(EarlyStopping.class);

  /** Beginnings of the names of metrics of which more is better. */
  private static final Set<String> HIGHER_IS_BETTER = Set.of("auc", "ndcg", "map@", "average_prec");

  private final ProcessGroup group;
  private final int patience;
  private final long validationRows;
  private final boolean higherIsBetter;
  private final boolean squared;

  private double best;
  private int bestIteration;

  EarlyStopping(ProcessGroup group, int patience, long validationRows, List<String> metrics) {
    if (metrics.isEmpty()) {
      throw new IllegalArgumentException(
          "Early stopping needs a metric: leave the parameter metric out, or name one");
    }
    this.group = group;
    this.patience = patience;
    this.validationRows = validationRows;
    String metric = metrics.get(0);
    this.higherIsBetter = HIGHER_IS_BETTER.stream().anyMatch(metric::startsWith);
    this.squared = metric.equals("rmse");
    this.best = higherIsBetter ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
  }

  /**
   * Returns whether the metric has not become better for as many iterations as the patience. A
   * collective; the same on all ranks.
   *
   * @param iteration from 1
   * @param own the metric of this rank's validation rows; any number if it has none
   */
  boolean stopsAfter(int iteration, double own) {
    double metric = mean(own);
    if (higherIsBetter ? metric > best : metric < best) {
      best = metric;
      bestIteration = iteration;
    }
    boolean stops = iteration - bestIteration >= patience;
    if (stops && group.rank() == 0) {
      LOG.info(
          "LightGBM stops early after iteration {}: the best is {}, with {}",
          iteration,
          bestIteration,
          best);
    }
    return stops;
  }

  private double mean(double own) {
    double value = squared ? own * own : own;
    double[] sums = {validationRows == 0 ? 0 : value * validationRows, validationRows};
    group.allReduce(Tensor.of(sums), ReduceOp.SUM).await();
    double mean = sums[0] / sums[1];
    return squared ? Math.sqrt(mean) : mean;
  }

  /** Returns the iteration with the best metric so far. */
  int bestIteration() {
    return bestIteration;
  }

  /** Returns the best metric so far. */
  double best() {
    return best;
  }
}
