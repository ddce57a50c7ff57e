package org.sparkcollectives.ml.internal.mixture;

import org.sparkcollectives.ml.internal.rows.RowBlock;

/** The probabilities with which the rows of a block belong to the Gaussians: the E step of EM. */
final class Responsibilities {

  /** Keeps the probability of a row that is far from all Gaussians above 0, as Spark does. */
  private static final double EPSILON = Math.ulp(1.0);

  private final RowBlock block;
  private final double[][] probabilities;
  private final double[] sums;

  /**
   * Computes the probability of each Gaussian for each row.
   *
   * @param weights of the Gaussians
   */
  Responsibilities(RowBlock block, double[] weights, GaussianDensity[] densities) {
    this.block = block;
    this.probabilities = new double[weights.length][block.size()];
    this.sums = new double[block.size()];
    double[] buffer = new double[block.size()];
    for (int gaussian = 0; gaussian < weights.length; gaussian++) {
      double[] own = probabilities[gaussian];
      densities[gaussian].at(block, buffer, own);
      for (int row = 0; row < own.length; row++) {
        own[row] = EPSILON + weights[gaussian] * own[row];
        sums[row] += own[row];
      }
    }
  }

  /** Returns the weighted log-likelihood of the rows. */
  double logLikelihood() {
    double logLikelihood = 0;
    for (int row = 0; row < sums.length; row++) {
      logLikelihood += Math.log(sums[row]) * block.weight(row);
    }
    return logLikelihood;
  }

  /** Adds the weights, rows and products of the rows to each Gaussian, times the probabilities. */
  void addTo(PackedMixture total) {
    double[] shares = new double[sums.length];
    for (int gaussian = 0; gaussian < probabilities.length; gaussian++) {
      double sum = 0;
      for (int row = 0; row < shares.length; row++) {
        shares[row] = probabilities[gaussian][row] / sums[row] * block.weight(row);
        sum += shares[row];
      }
      total.addWeight(gaussian, sum);
      block.addMoments(
          shares, total.numbers(), total.meanOffset(gaussian), total.covarianceOffset(gaussian));
    }
  }
}
