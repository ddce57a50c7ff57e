package org.sparkcollectives.ml.clustering;

import java.util.NoSuchElementException;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.clustering.KMeansModel;
import org.apache.spark.ml.clustering.KMeansSummary;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.mllib.linalg.Vector;
import org.apache.spark.mllib.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.types.ArrayType;
import org.sparkcollectives.ml.internal.kmeans.BlockLloyd;
import org.sparkcollectives.ml.internal.kmeans.CentersState;
import org.sparkcollectives.ml.internal.kmeans.FeatureCounts;
import org.sparkcollectives.ml.internal.kmeans.Lloyd;
import org.sparkcollectives.ml.internal.kmeans.RowLloyd;
import org.sparkcollectives.ml.internal.rows.RowCache;
import org.sparkcollectives.ml.internal.rows.WeightedVectors;
import org.sparkcollectives.ml.internal.stage.BarrierFit;
import org.sparkcollectives.ml.internal.stage.Fallback;
import org.sparkcollectives.spark.iteration.IterationResult;
import scala.Option;

/**
 * Spark's k-means with all iterations in one barrier stage. Params, first centers, model and
 * summary are those of {@link org.apache.spark.ml.clustering.KMeans}, of which this is a subclass.
 * The ranks read the rows once, into their memory, and add up the sums of the clusters among
 * themselves.
 *
 * <p>Both solvers give Spark's centers. The solver {@code block} takes the rows in blocks of 128,
 * whatever {@code maxBlockSizeInMB} says.
 *
 * <p>{@link #fit} runs a few jobs for the first centers and one for all iterations, and blocks
 * until they have ended. A job that loses an executor is submitted again, at most three times, and
 * goes on from the last checkpoint. Where no barrier stage can run, or the rows do not fit into the
 * executors' memory, Spark's own code fits, and the log says why.
 */
public class KMeans extends org.apache.spark.ml.clustering.KMeans {

  private static final long serialVersionUID = 1;

  /** Creates an estimator with a random uid. */
  public KMeans() {
    this(Identifiable$.MODULE$.randomUID("kmeans"));
  }

  /** Creates an estimator. Spark copies and loads estimators by this constructor. */
  public KMeans(String uid) {
    super(uid);
    // Spark derives the default from the name of the class, so a subclass would have another one.
    setDefault(seed(), (long) org.apache.spark.ml.clustering.KMeans.class.getName().hashCode());
  }

  /**
   * Returns the estimator that was saved at {@code path}, by this class or by Spark's own.
   *
   * @throws ClassCastException if it is another estimator
   */
  public static KMeans load(String path) {
    org.apache.spark.ml.clustering.KMeans saved = org.apache.spark.ml.clustering.KMeans.load(path);
    return saved instanceof KMeans own
        ? own
        : saved.copyValues(new KMeans(saved.uid()), ParamMap.empty());
  }

  @Override
  public KMeans copy(ParamMap extra) {
    return defaultCopy(extra);
  }

  @Override
  public KMeansModel fit(Dataset<?> dataset) {
    return Fallback.fit(uid(), dataset, () -> fitInStage(dataset), () -> super.fit(dataset));
  }

  private KMeansModel fitInStage(Dataset<?> dataset) {
    transformSchema(dataset.schema(), true);
    JavaRDD<Instance> rows = WeightedVectors.of(dataset, get(weightCol()), getFeaturesCol());
    return RowCache.during(dataset, rows, () -> model(dataset, train(dataset, rows)));
  }

  private org.apache.spark.mllib.clustering.KMeansModel train(
      Dataset<?> dataset, JavaRDD<Instance> rows) {
    BarrierFit fit = new BarrierFit(uid());
    boolean blocks = prefersBlocks(dataset, rows);
    Vector[] first = firstCenters(rows);
    return blocks
        ? iterate(fit, rows, new BlockLloyd(first, getDistanceMeasure(), getTol()))
        : iterate(fit, rows, new RowLloyd(first, getDistanceMeasure(), getTol()));
  }

  /** Returns whether the solver is "block": for "auto" that is for dense rows. */
  private boolean prefersBlocks(Dataset<?> dataset, JavaRDD<Instance> rows) {
    return switch (getSolver()) {
      case "row" -> false;
      case "block" -> true;
      default ->
          dataset.schema().apply(getFeaturesCol()).dataType() instanceof ArrayType
              || FeatureCounts.of(rows).isDense();
    };
  }

  private Vector[] firstCenters(JavaRDD<Instance> rows) {
    Vector[] centers =
        new org.apache.spark.mllib.clustering.KMeans()
            .setK(getK())
            .setInitializationMode(getInitMode())
            .setInitializationSteps(getInitSteps())
            .setSeed(getSeed())
            .setDistanceMeasure(getDistanceMeasure())
            .initialize(rows.map(row -> Vectors.fromML(row.features())).rdd());
    if (centers.length == 0) {
      throw new NoSuchElementException("There are no rows, and so no centers to begin with");
    }
    return centers;
  }

  private <D> org.apache.spark.mllib.clustering.KMeansModel iterate(
      BarrierFit fit, JavaRDD<Instance> rows, Lloyd<D> lloyd) {
    double[] first = lloyd.first().numbers();
    IterationResult<double[]> result =
        getMaxIter() == 0
            ? new IterationResult<>(first, 0, false)
            : fit.iterate(
                rows,
                first,
                stage ->
                    stage
                        .withLoader(lloyd::load)
                        .withStopCondition(
                            (before, after, iteration) -> lloyd.state(after).hasConverged())
                        .run(
                            getMaxIter(),
                            (state, own, iteration) -> lloyd.sums(state, own),
                            (state, sums, iteration) -> lloyd.move(state, sums)));
    CentersState last = lloyd.state(result.state());
    return new org.apache.spark.mllib.clustering.KMeansModel(
        lloyd.centers(last), getDistanceMeasure(), last.cost(), result.iterations());
  }

  private KMeansModel model(
      Dataset<?> dataset, org.apache.spark.mllib.clustering.KMeansModel trained) {
    KMeansModel model = copyValues(new KMeansModel(uid(), trained), ParamMap.empty());
    model.setParent(this);
    KMeansSummary summary =
        new KMeansSummary(
            model.transform(dataset),
            getPredictionCol(),
            getFeaturesCol(),
            getK(),
            trained.numIter(),
            trained.trainingCost());
    model.setSummary(Option.apply(summary));
    return model;
  }

  // They return this class, so that a Java program which chains setters only changes an import.

  @Override
  public KMeans setDistanceMeasure(String value) {
    super.setDistanceMeasure(value);
    return this;
  }

  @Override
  public KMeans setFeaturesCol(String value) {
    super.setFeaturesCol(value);
    return this;
  }

  @Override
  public KMeans setInitMode(String value) {
    super.setInitMode(value);
    return this;
  }

  @Override
  public KMeans setInitSteps(int value) {
    super.setInitSteps(value);
    return this;
  }

  @Override
  public KMeans setK(int value) {
    super.setK(value);
    return this;
  }

  @Override
  public KMeans setMaxBlockSizeInMB(double value) {
    super.setMaxBlockSizeInMB(value);
    return this;
  }

  @Override
  public KMeans setMaxIter(int value) {
    super.setMaxIter(value);
    return this;
  }

  @Override
  public KMeans setPredictionCol(String value) {
    super.setPredictionCol(value);
    return this;
  }

  @Override
  public KMeans setSeed(long value) {
    super.setSeed(value);
    return this;
  }

  @Override
  public KMeans setSolver(String value) {
    super.setSolver(value);
    return this;
  }

  @Override
  public KMeans setTol(double value) {
    super.setTol(value);
    return this;
  }

  @Override
  public KMeans setWeightCol(String value) {
    super.setWeightCol(value);
    return this;
  }
}
