package org.sparkcollectives.ml.internal.mixture;

import breeze.linalg.DenseMatrix;
import breeze.linalg.DenseMatrix$mcD$sp;
import breeze.linalg.DenseVector;
import breeze.linalg.eigSym;
import java.util.Arrays;
import org.apache.spark.ml.clustering.GaussianMixture$;
import org.sparkcollectives.ml.internal.rows.RowBlock;

/**
 * The density of one Gaussian at blocks of rows. As in Spark's {@code MultivariateGaussian}, a
 * covariance that is singular is taken as a density on the subspace that it spans: eigenvalues that
 * are 0 but for rounding are left out. Where an eigenvalue is NaN, all densities are.
 */
final class GaussianDensity {

  private static final double EPSILON = Math.ulp(1.0);

  private final int features;

  /** The eigenvectors, one after the other, over the square root of their eigenvalues. */
  private final double[] axes;

  /** The mean along each axis. */
  private final double[] center;

  /** The logarithm of the density at the mean. */
  private final double logHeight;

  /**
   * Creates a density.
   *
   * @param covariance the upper triangle, column by column
   */
  GaussianDensity(double[] mean, double[] covariance) {
    this.features = mean.length;
    eigSym.EigSym<?, ?> eigen = decompose(features, covariance);
    double[] values = (double[]) ((DenseVector<?>) eigen.eigenvalues()).data();
    double[] vectors = (double[]) ((DenseMatrix<?>) eigen.eigenvectors()).data();
    double tolerance = EPSILON * Arrays.stream(values).max().orElseThrow() * values.length;
    double logDeterminant = Double.isNaN(tolerance) ? Double.NaN : 0;
    double[] scaled = new double[vectors.length];
    int kept = 0;
    for (int i = 0; i < values.length; i++) {
      if (values[i] > tolerance) {
        logDeterminant += Math.log(values[i]);
        double scale = Math.sqrt(1 / values[i]);
        for (int j = 0; j < features; j++) {
          scaled[kept * features + j] = scale * vectors[i * features + j];
        }
        kept++;
      }
    }
    this.axes = Arrays.copyOf(scaled, kept * features);
    this.center = new double[kept];
    for (int axis = 0; axis < kept; axis++) {
      for (int j = 0; j < features; j++) {
        center[axis] += axes[axis * features + j] * mean[j];
      }
    }
    this.logHeight = -0.5 * (features * Math.log(2 * Math.PI) + logDeterminant);
  }

  @SuppressWarnings("unchecked") // Breeze's type of numbers is Scala's.
  private static eigSym.EigSym<?, ?> decompose(int features, double[] covariance) {
    double[] full =
        GaussianMixture$.MODULE$.unpackUpperTriangularMatrix(features, covariance).values();
    DenseMatrix<?> matrix = new DenseMatrix$mcD$sp(features, features, full);
    return eigSym.EigSym_DM_Impl$.MODULE$.apply((DenseMatrix<Object>) matrix);
  }

  /**
   * Computes the densities at the rows of {@code block}.
   *
   * @param buffer for at least as many numbers as rows
   * @param densities of the rows, which are overwritten
   */
  void at(RowBlock block, double[] buffer, double[] densities) {
    int size = block.size();
    Arrays.fill(densities, 0, size, 0);
    for (int axis = 0; axis < center.length; axis++) {
      block.dots(axes, axis * features, buffer);
      double along = center[axis];
      for (int row = 0; row < size; row++) {
        double distance = along - buffer[row];
        densities[row] += distance * distance;
      }
    }
    for (int row = 0; row < size; row++) {
      densities[row] = Math.exp(logHeight - 0.5 * densities[row]);
    }
  }
}
