package org.sparkcollectives.ml.internal.kmeans;

import java.io.Serializable;
import java.util.Iterator;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.mllib.linalg.Vector;
import org.apache.spark.mllib.linalg.Vectors;

/**
 * Lloyd's iterations in the arithmetic of one of Spark's solvers: each rank assigns its rows to the
 * nearest centers and adds them up, and rank 0 moves the centers to the means.
 *
 * @param <D> the rows of a rank
 */
public abstract class Lloyd<D> implements Serializable {

  private static final long serialVersionUID = 1;

  private final Vector[] first;

  /**
   * Creates the iterations.
   *
   * @param first the centers before the first iteration, at least one
   */
  Lloyd(Vector[] first) {
    this.first = first.clone();
  }

  /** Returns the rows of a rank as the iterations read them. */
  public abstract D load(Iterator<Instance> rows);

  /**
   * Returns a rank's sums for one iteration.
   *
   * @param state numbers of the state
   */
  public abstract double[] sums(double[] state, D rows);

  /**
   * Returns the next state. A cluster without rows keeps its center.
   *
   * @param state numbers of the state, which stay as they are
   * @param sums of all ranks
   */
  public abstract double[] move(double[] state, double[] sums);

  /** Returns the state before the first iteration. */
  public final CentersState first() {
    double[][] centers = new double[clusters()][];
    for (int cluster = 0; cluster < centers.length; cluster++) {
      centers[cluster] = first[cluster].toArray();
    }
    return CentersState.first(centers);
  }

  /** Returns the state that an iteration has left as {@code numbers}. */
  public final CentersState state(double[] numbers) {
    return CentersState.of(clusters(), features(), numbers);
  }

  /**
   * Returns the centers of {@code state}, as those of Spark's model: one that has not moved may be
   * sparse.
   */
  public final Vector[] centers(CentersState state) {
    Vector[] centers = first.clone();
    for (int cluster = 0; cluster < centers.length; cluster++) {
      if (state.hasMoved(cluster)) {
        centers[cluster] = Vectors.dense(state.center(cluster));
      }
    }
    return centers;
  }

  final int clusters() {
    return first.length;
  }

  final int features() {
    return first[0].size();
  }
}
