package org.sparkcollectives.ml.clustering;

import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.clustering.GaussianMixture$;
import org.apache.spark.ml.clustering.GaussianMixtureModel;
import org.apache.spark.ml.clustering.GaussianMixtureSummary;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.stat.distribution.MultivariateGaussian;
import org.apache.spark.ml.util.DatasetUtils$;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.sql.Dataset;
import org.sparkcollectives.ml.internal.mixture.ExpectationMaximization;
import org.sparkcollectives.ml.internal.mixture.InitialMixture;
import org.sparkcollectives.ml.internal.mixture.PackedMixture;
import org.sparkcollectives.ml.internal.rows.RowCache;
import org.sparkcollectives.ml.internal.rows.WeightedVectors;
import org.sparkcollectives.ml.internal.stage.BarrierFit;
import org.sparkcollectives.ml.internal.stage.Fallback;
import org.sparkcollectives.ml.internal.stage.FittedNumbers;
import org.sparkcollectives.spark.iteration.IterationResult;
import scala.Option;

/**
 * Spark's mixture of Gaussians with all iterations in one barrier stage. Params, the first mixture,
 * model and summary are those of {@link org.apache.spark.ml.clustering.GaussianMixture}, of which
 * this is a subclass. The ranks read the rows once, into their memory, and add up weights, means
 * and covariances among themselves; so {@code aggregationDepth} has no effect, as it has none in
 * Spark's own.
 *
 * <p>{@link #fit} runs a few jobs for the first mixture and one for all iterations, and blocks
 * until they have ended. A job that loses an executor is submitted again, at most three times, and
 * goes on from the last checkpoint. Where no barrier stage can run, or the rows do not fit into the
 * executors' memory, Spark's own code fits, and the log says why.
 */
public class GaussianMixture extends org.apache.spark.ml.clustering.GaussianMixture {

  private static final long serialVersionUID = 1;

  /** Creates an estimator with a random uid. */
  public GaussianMixture() {
    this(Identifiable$.MODULE$.randomUID("GaussianMixture"));
  }

  /** Creates an estimator. Spark copies and loads estimators by this constructor. */
  public GaussianMixture(String uid) {
    super(uid);
    // Spark derives the default from the name of the class, so a subclass would have another one.
    setDefault(
        seed(), (long) org.apache.spark.ml.clustering.GaussianMixture.class.getName().hashCode());
  }

  /**
   * Returns the estimator that was saved at {@code path}, by this class or by Spark's own.
   *
   * @throws ClassCastException if it is another estimator
   */
  public static GaussianMixture load(String path) {
    org.apache.spark.ml.clustering.GaussianMixture saved =
        org.apache.spark.ml.clustering.GaussianMixture.load(path);
    return saved instanceof GaussianMixture own
        ? own
        : saved.copyValues(new GaussianMixture(saved.uid()), ParamMap.empty());
  }

  @Override
  public GaussianMixture copy(ParamMap extra) {
    return defaultCopy(extra);
  }

  @Override
  public GaussianMixtureModel fit(Dataset<?> dataset) {
    return Fallback.fit(uid(), dataset, () -> fitInStage(dataset), () -> super.fit(dataset));
  }

  private GaussianMixtureModel fitInStage(Dataset<?> dataset) {
    transformSchema(dataset.schema(), true);
    int features = DatasetUtils$.MODULE$.getNumFeatures(dataset, getFeaturesCol());
    requireFewFeatures(features);
    JavaRDD<Instance> rows = WeightedVectors.of(dataset, get(weightCol()), getFeaturesCol());
    return RowCache.during(
        dataset,
        rows,
        () -> model(dataset, features, train(new BarrierFit(uid()), rows, features)));
  }

  private static void requireFewFeatures(int features) {
    int most = GaussianMixture$.MODULE$.MAX_NUM_FEATURES();
    if (features >= most) {
      throw new IllegalArgumentException(
          "requirement failed: GaussianMixture cannot handle more than "
              + most
              + " features because the size of the covariance matrix is quadratic in the number of"
              + " features.");
    }
  }

  private IterationResult<double[]> train(BarrierFit fit, JavaRDD<Instance> rows, int features) {
    ExpectationMaximization steps = new ExpectationMaximization(getK(), features, getTol());
    double[] first = InitialMixture.of(rows, getK(), features, getSeed()).numbers();
    FittedNumbers.require(uid(), first);
    if (getMaxIter() == 0 || steps.isLast(first)) {
      return new IterationResult<>(first, 0, false);
    }
    return fit.iterate(
        rows,
        first,
        stage ->
            stage
                .withLoader(steps::load)
                .withStopCondition((before, after, iteration) -> steps.isLast(after))
                .run(
                    getMaxIter(),
                    (state, own, iteration) -> steps.expectation(state, own),
                    (state, sums, iteration) -> steps.maximization(state, sums)));
  }

  private GaussianMixtureModel model(
      Dataset<?> dataset, int features, IterationResult<double[]> trained) {
    PackedMixture mixture = PackedMixture.of(getK(), features, trained.state());
    MultivariateGaussian[] gaussians = new MultivariateGaussian[getK()];
    for (int gaussian = 0; gaussian < gaussians.length; gaussian++) {
      gaussians[gaussian] =
          new MultivariateGaussian(
              Vectors.dense(mixture.mean(gaussian)),
              GaussianMixture$.MODULE$.unpackUpperTriangularMatrix(
                  features, mixture.covariance(gaussian)));
    }
    GaussianMixtureModel model =
        copyValues(new GaussianMixtureModel(uid(), mixture.weights(), gaussians), ParamMap.empty());
    model.setParent(this);
    GaussianMixtureSummary summary =
        new GaussianMixtureSummary(
            model.transform(dataset),
            getPredictionCol(),
            getProbabilityCol(),
            getFeaturesCol(),
            getK(),
            mixture.logLikelihood(),
            trained.iterations());
    model.setSummary(Option.apply(summary));
    return model;
  }

  // They return this class, so that a Java program which chains setters only changes an import.

  @Override
  public GaussianMixture setAggregationDepth(int value) {
    super.setAggregationDepth(value);
    return this;
  }

  @Override
  public GaussianMixture setFeaturesCol(String value) {
    super.setFeaturesCol(value);
    return this;
  }

  @Override
  public GaussianMixture setK(int value) {
    super.setK(value);
    return this;
  }

  @Override
  public GaussianMixture setMaxIter(int value) {
    super.setMaxIter(value);
    return this;
  }

  @Override
  public GaussianMixture setPredictionCol(String value) {
    super.setPredictionCol(value);
    return this;
  }

  @Override
  public GaussianMixture setProbabilityCol(String value) {
    super.setProbabilityCol(value);
    return this;
  }

  @Override
  public GaussianMixture setSeed(long value) {
    super.setSeed(value);
    return this;
  }

  @Override
  public GaussianMixture setTol(double value) {
    super.setTol(value);
    return this;
  }

  @Override
  public GaussianMixture setWeightCol(String value) {
    super.setWeightCol(value);
    return this;
  }
}
