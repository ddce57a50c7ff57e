package org.sparkcollectives.ml.internal.kmeans;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.linalg.Vectors$;
import org.apache.spark.mllib.clustering.DistanceMeasure$;
import org.sparkcollectives.ml.internal.rows.HeapBudget;
import org.sparkcollectives.ml.internal.rows.RowBlock;
import org.sparkcollectives.ml.internal.rows.RowBlocks;

/**
 * The solver "block": distances from products of blocks of rows with all centers, as Spark's own
 * computes them from the product of two matrices. The cosine measure works on rows and centers of
 * norm 1.
 */
public final class BlockLloyd extends Lloyd<List<RowBlock>> {

  private static final long serialVersionUID = 1;

  private static final int EUCLIDEAN_NORM = 2;

  private final boolean isCosine;
  private final double tolerance;

  /**
   * Creates the iterations.
   *
   * @param first the centers before the first iteration, at least one
   * @param distanceMeasure the name of Spark's distance measure
   * @param tolerance the distance that no center moves by in the last iteration
   */
  public BlockLloyd(
      org.apache.spark.mllib.linalg.Vector[] first, String distanceMeasure, double tolerance) {
    super(isCosine(distanceMeasure) ? units(first) : first);
    this.isCosine = isCosine(distanceMeasure);
    this.tolerance = tolerance;
  }

  private static boolean isCosine(String distanceMeasure) {
    return distanceMeasure.equals(DistanceMeasure$.MODULE$.COSINE());
  }

  private static org.apache.spark.mllib.linalg.Vector[] units(
      org.apache.spark.mllib.linalg.Vector[] vectors) {
    return Arrays.stream(vectors)
        .map(vector -> org.apache.spark.mllib.linalg.Vectors.fromML(unit(vector.asML())))
        .toArray(org.apache.spark.mllib.linalg.Vector[]::new);
  }

  @Override
  public List<RowBlock> load(Iterator<Instance> rows) {
    return RowBlocks.of(
        new Iterator<>() {
          @Override
          public boolean hasNext() {
            return rows.hasNext();
          }

          @Override
          public Instance next() {
            return prepare(rows.next());
          }
        },
        features(),
        HeapBudget.ofThisRank((long) clusters() * features()));
  }

  private Instance prepare(Instance row) {
    Vector vector = row.features();
    return isCosine
        ? new Instance(1, row.weight(), unit(vector))
        : new Instance(vector.dot(vector), row.weight(), vector);
  }

  @Override
  public double[] sums(double[] state, List<RowBlock> rows) {
    double[] centers = state(state).coordinates();
    double[] squaredNorms = squaredNorms(state(state));
    ClusterSums sums = ClusterSums.zeros(clusters(), features());
    NearestCenters nearest = new NearestCenters();
    for (RowBlock block : rows) {
      if (isCosine) {
        nearest.byCosine(block, centers, clusters());
      } else {
        nearest.byEuclid(block, centers, squaredNorms);
      }
      for (int row = 0; row < block.size(); row++) {
        sums.addWeight(nearest.clusters()[row], block.weight(row));
        sums.addCost(block.weight(row) * nearest.distances()[row]);
      }
      block.addTo(nearest.clusters(), sums.numbers());
    }
    return sums.numbers();
  }

  private double[] squaredNorms(CentersState state) {
    double[] squaredNorms = new double[clusters()];
    for (int cluster = 0; cluster < clusters(); cluster++) {
      Vector center = Vectors.dense(state.center(cluster));
      squaredNorms[cluster] = center.dot(center);
    }
    return squaredNorms;
  }

  @Override
  public double[] move(double[] state, double[] sums) {
    CentersState next = state(state).copy();
    ClusterSums total = ClusterSums.of(clusters(), features(), sums);
    boolean converged = true;
    for (int cluster = 0; cluster < clusters(); cluster++) {
      if (total.weight(cluster) > 0) {
        Vector mean = mean(total, cluster);
        Vector previous = Vectors.dense(next.center(cluster));
        converged = converged && distance(previous, mean) <= tolerance;
        next.move(cluster, mean.toArray());
      }
    }
    next.finishIteration(total.cost(), converged);
    return next.numbers();
  }

  private Vector mean(ClusterSums total, int cluster) {
    double[] mean = total.rowSum(cluster);
    double scale = 1 / total.weight(cluster);
    for (int feature = 0; feature < mean.length; feature++) {
      mean[feature] *= scale;
    }
    Vector vector = Vectors.dense(mean);
    return isCosine ? unit(vector) : vector;
  }

  private double distance(Vector one, Vector other) {
    return isCosine
        ? 1
            - one.dot(other)
                / Vectors.norm(one, EUCLIDEAN_NORM)
                / Vectors.norm(other, EUCLIDEAN_NORM)
        : Math.sqrt(Vectors.sqdist(one, other));
  }

  /** Returns a copy of norm 1; Spark's own function scales the vector itself. */
  private static Vector unit(Vector vector) {
    return Vectors$.MODULE$.normalize(vector.copy(), EUCLIDEAN_NORM);
  }
}
