package org.sparkcollectives.ml.internal.mixture;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.ml.clustering.GaussianMixture$;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.linalg.DenseVector;
import org.sparkcollectives.ml.internal.rows.HeapBudget;
import org.sparkcollectives.ml.internal.rows.RowBlock;
import org.sparkcollectives.ml.internal.rows.RowBlocks;
import scala.Tuple2;

/**
 * The iterations of expectation and maximization: each rank sums up how much each of its rows
 * belongs to each Gaussian, and rank 0 makes the next mixture of the sums.
 *
 * @param gaussians how many there are
 * @param features of each row
 * @param tolerance the change of the log-likelihood at which the iterations end
 */
public record ExpectationMaximization(int gaussians, int features, double tolerance)
    implements Serializable {

  /** Returns the rows of a rank as the iterations read them. */
  public List<RowBlock> load(Iterator<Instance> rows) {
    return RowBlocks.of(
        rows, features, HeapBudget.ofThisRank(PackedMixture.length(gaussians, features)));
  }

  /**
   * Returns a rank's sums for one iteration.
   *
   * @param state numbers of the mixture
   */
  public double[] expectation(double[] state, List<RowBlock> rows) {
    PackedMixture mixture = PackedMixture.of(gaussians, features, state);
    double[] weights = mixture.weights();
    GaussianDensity[] densities = new GaussianDensity[gaussians];
    for (int gaussian = 0; gaussian < gaussians; gaussian++) {
      densities[gaussian] =
          new GaussianDensity(mixture.mean(gaussian), mixture.covariance(gaussian));
    }
    PackedMixture sums = PackedMixture.zeros(gaussians, features);
    double logLikelihood = 0;
    for (RowBlock block : rows) {
      Responsibilities responsibilities = new Responsibilities(block, weights, densities);
      logLikelihood += responsibilities.logLikelihood();
      responsibilities.addTo(sums);
    }
    sums.setLogLikelihood(logLikelihood);
    sums.setLast(Arrays.stream(sums.weights()).sum());
    return sums.numbers();
  }

  /**
   * Returns the next mixture.
   *
   * @param state numbers of the mixture
   * @param total sums of all ranks
   */
  public double[] maximization(double[] state, double[] total) {
    PackedMixture previous = PackedMixture.of(gaussians, features, state);
    PackedMixture sums = PackedMixture.of(gaussians, features, total);
    PackedMixture next = PackedMixture.zeros(gaussians, features);
    double[] weights = sums.weights();
    for (int gaussian = 0; gaussian < gaussians; gaussian++) {
      Tuple2<Object, Tuple2<DenseVector, DenseVector>> updated =
          GaussianMixture$.MODULE$.updateWeightsAndGaussians(
              new DenseVector(sums.mean(gaussian)),
              new DenseVector(sums.covariance(gaussian)),
              weights[gaussian],
              sums.last());
      next.setWeight(gaussian, (Double) updated._1());
      next.setGaussian(gaussian, updated._2()._1().values(), updated._2()._2().values());
    }
    next.setLogLikelihood(sums.logLikelihood());
    next.setLast(previous.logLikelihood());
    return next.numbers();
  }

  /**
   * Returns whether the iterations end with {@code state}: where its log-likelihood differs little
   * from the one before it, or is NaN, as all that would follow from it.
   */
  public boolean isLast(double[] state) {
    PackedMixture mixture = PackedMixture.of(gaussians, features, state);
    double change = Math.abs(mixture.logLikelihood() - mixture.last());
    return Double.isNaN(change) || change <= tolerance;
  }
}
