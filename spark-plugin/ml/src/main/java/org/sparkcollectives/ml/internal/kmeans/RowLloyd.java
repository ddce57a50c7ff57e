package org.sparkcollectives.ml.internal.kmeans;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.mllib.clustering.DistanceMeasure;
import org.apache.spark.mllib.clustering.DistanceMeasure$;
import org.apache.spark.mllib.clustering.VectorWithNorm;
import org.apache.spark.mllib.linalg.Vector;
import org.apache.spark.mllib.linalg.Vectors;
import org.sparkcollectives.ml.internal.rows.HeapBudget;
import scala.Option;
import scala.Tuple2;

/**
 * The solver "row": Spark's own distance measures compare one row with one center at a time, and
 * leave out centers that cannot be the nearest by the triangle inequality. Sparse rows, and first
 * centers that are sparse, stay so.
 */
public final class RowLloyd extends Lloyd<List<VectorWithNorm>> {

  private static final long serialVersionUID = 1;

  /** The norm of a center that the cosine measure has scaled. */
  private static final double UNIT = 1;

  private final DistanceMeasure measure;
  private final boolean isCosine;
  private final double tolerance;

  /**
   * Creates the iterations.
   *
   * @param first the centers before the first iteration, at least one
   * @param distanceMeasure the name of Spark's distance measure
   * @param tolerance the distance that no center moves by in the last iteration
   */
  public RowLloyd(Vector[] first, String distanceMeasure, double tolerance) {
    super(first);
    this.measure = DistanceMeasure$.MODULE$.decodeFromString(distanceMeasure);
    this.isCosine = distanceMeasure.equals(DistanceMeasure$.MODULE$.COSINE());
    this.tolerance = tolerance;
  }

  @Override
  public List<VectorWithNorm> load(Iterator<Instance> rows) {
    List<VectorWithNorm> list = new ArrayList<>();
    HeapBudget held = HeapBudget.ofThisRank((long) clusters() * features());
    rows.forEachRemaining(
        row -> {
          held.add(row.features());
          Vector vector = Vectors.fromML(row.features());
          list.add(new VectorWithNorm(vector, Vectors.norm(vector, 2), row.weight()));
        });
    return list;
  }

  @Override
  public double[] sums(double[] state, List<VectorWithNorm> rows) {
    VectorWithNorm[] centers = withNorms(state(state));
    Option<double[]> bounds =
        DistanceMeasure$.MODULE$.shouldComputeStatistics(centers.length)
            ? Option.apply(measure.computeStatistics(centers))
            : Option.empty();
    ClusterSums sums = ClusterSums.zeros(clusters(), features());
    Vector[] rowSums = new Vector[clusters()];
    for (int cluster = 0; cluster < clusters(); cluster++) {
      rowSums[cluster] = Vectors.zeros(features());
    }
    for (VectorWithNorm row : rows) {
      Tuple2<Object, Object> nearest = measure.findClosest(centers, bounds, row);
      int cluster = (Integer) nearest._1();
      sums.addCost((Double) nearest._2() * row.weight());
      measure.updateClusterSum(row, rowSums[cluster]);
      sums.addWeight(cluster, row.weight());
    }
    for (int cluster = 0; cluster < clusters(); cluster++) {
      sums.setRowSum(cluster, rowSums[cluster].toArray());
    }
    return sums.numbers();
  }

  @Override
  public double[] move(double[] state, double[] sums) {
    CentersState next = state(state).copy();
    VectorWithNorm[] centers = withNorms(next);
    ClusterSums total = ClusterSums.of(clusters(), features(), sums);
    boolean converged = true;
    for (int cluster = 0; cluster < clusters(); cluster++) {
      if (total.weight(cluster) > 0) {
        VectorWithNorm moved =
            measure.centroid(Vectors.dense(total.rowSum(cluster)), total.weight(cluster));
        converged = converged && measure.isCenterConverged(centers[cluster], moved, tolerance);
        next.move(cluster, moved.vector().toArray());
      }
    }
    next.finishIteration(total.cost(), converged);
    return next.numbers();
  }

  private VectorWithNorm[] withNorms(CentersState state) {
    Vector[] centers = centers(state);
    VectorWithNorm[] withNorms = new VectorWithNorm[centers.length];
    for (int cluster = 0; cluster < centers.length; cluster++) {
      withNorms[cluster] =
          isCosine && state.hasMoved(cluster)
              ? new VectorWithNorm(centers[cluster], UNIT, 1)
              : new VectorWithNorm(centers[cluster]);
    }
    return withNorms;
  }
}
