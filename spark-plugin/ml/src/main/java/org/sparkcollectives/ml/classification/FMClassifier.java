package org.sparkcollectives.ml.classification;

import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.rdd.RDD;
import org.sparkcollectives.ml.internal.factorization.FactorizationFit;
import scala.Tuple2;

/**
 * Spark's factorization machine for two classes with all iterations in one barrier stage. Params,
 * the first coefficients, the rows of each mini-batch and the model are those of {@link
 * org.apache.spark.ml.classification.FMClassifier}, of which this is a subclass.
 *
 * <p>{@link #fit} blocks until the job has ended. A job that loses an executor is submitted again,
 * and goes on from the last checkpoint. Where no barrier stage can run, or the rows do not fit into
 * the executors' memory, the fit is left to Spark's own, and the log says why.
 */
public class FMClassifier extends org.apache.spark.ml.classification.FMClassifier {

  private static final long serialVersionUID = 1;

  /** Creates an estimator with a random uid. */
  public FMClassifier() {
    this(Identifiable$.MODULE$.randomUID("fmc"));
  }

  /** Creates an estimator. Spark copies and loads estimators by this constructor. */
  public FMClassifier(String uid) {
    super(uid);
    // Spark's default is made of the name of the class, so that of a subclass is another one.
    setDefault(
        seed(), (long) org.apache.spark.ml.classification.FMClassifier.class.getName().hashCode());
  }

  /** Reads an estimator that {@link #save} has written, be it of this class or Spark's own. */
  public static FMClassifier load(String path) {
    org.apache.spark.ml.classification.FMClassifier read =
        org.apache.spark.ml.classification.FMClassifier.load(path);
    return read instanceof FMClassifier own
        ? own
        : read.copyValues(new FMClassifier(read.uid()), ParamMap.empty());
  }

  @Override
  public FMClassifier copy(ParamMap extra) {
    return this.<FMClassifier>defaultCopy(extra);
  }

  /** Fits the coefficients; Spark's own fit calls this, and makes the model of what it returns. */
  @Override
  public Tuple2<Vector, double[]> trainImpl(
      RDD<Tuple2<Object, org.apache.spark.mllib.linalg.Vector>> rows, int features, String loss) {
    return FactorizationFit.of(
        this, rows, features, loss, () -> super.trainImpl(rows, features, loss));
  }
}
