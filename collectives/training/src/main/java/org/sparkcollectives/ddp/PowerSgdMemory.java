package org.sparkcollectives.ddp;

import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a rank remembers of its matrices, by their names, and the random numbers with which they
 * begin, which are the same on all ranks.
 */
final class PowerSgdMemory {

  /** Draws the columns of a first Q, one after the other. */
  @FunctionalInterface
  interface Draw {

    /**
     * Draws numbers.
     *
     * @param draw the number of the draw, from 0
     */
    float[] columns(int length, int columns, long draw);
  }

  private final PowerSgdOptions options;
  private final Draw source;
  private final Map<String, LowRankMatrix> matrices = new TreeMap<>();

  /** The names of matrices of a saved state that no step has used yet. */
  private final Set<String> unused = new HashSet<>();

  private long draws;

  PowerSgdMemory(PowerSgdOptions options, Draw source) {
    this.options = options;
    this.source = source;
  }

  long draws() {
    return draws;
  }

  void setDraws(long value) {
    draws = value;
  }

  Map<String, LowRankMatrix> matrices() {
    return matrices;
  }

  /** Replaces all matrices by those of a saved state. */
  void restore(Map<String, LowRankMatrix> saved) {
    matrices.clear();
    matrices.putAll(saved);
    unused.clear();
    unused.addAll(saved.keySet());
  }

  /**
   * Returns the matrix of a name.
   *
   * @throws IllegalStateException if a matrix of another shape is remembered
   */
  LowRankMatrix matrix(String name, int rows, int columns) {
    unused.remove(name);
    int rank = Math.min(options.rank(), Math.min(rows, columns));
    LowRankMatrix known = matrices.get(name);
    if (known != null && (known.rows() != rows || known.columns() != columns)) {
      throw new IllegalStateException(
          "PowerSGD remembers a matrix of "
              + known.rows()
              + " x "
              + known.columns()
              + " for "
              + name
              + ", whose gradients are "
              + rows
              + " x "
              + columns
              + ": restore the state of the same model, or begin with a new PowerSgd");
    }
    if (known != null && known.rank() == rank) {
      return known;
    }
    LowRankMatrix matrix = new LowRankMatrix(rows, columns, rank);
    if (known != null && known.remainder() != null) {
      matrix.keepRemainder(known.remainder(), known.remainderDivisor());
    }
    matrices.put(name, matrix);
    return matrix;
  }

  /**
   * Forgets matrices whose names begin alike, but one.
   *
   * @throws IllegalStateException if that would be all that a saved state has of them
   */
  void forgetOthers(String beginning, String name) {
    for (String each : unused) {
      if (each.startsWith(beginning) && !each.equals(name)) {
        throw new IllegalStateException(
            "PowerSGD was saved with the parameters of "
                + each
                + ", and now has "
                + name
                + ": save and restore with reducers of the same ReducerOptions.withReadyOrder, or"
                + " of withRebuild(false), or begin with a new PowerSgd");
      }
    }
    matrices.keySet().removeIf(each -> each.startsWith(beginning) && !each.equals(name));
  }

  /** Forgets what all matrices were multiplied with, of which ranks may have different ones. */
  void forgetFactors() {
    matrices.values().forEach(LowRankMatrix::forgetQ);
  }

  /** Forgets all of some matrices. */
  void forget(Collection<LowRankMatrix> some) {
    for (LowRankMatrix each : some) {
      each.forgetQ();
      each.forgetRemainder();
    }
  }

  /** Returns the orthonormal Q with which a matrix is multiplied in this step. */
  float[] orthonormalQ(LowRankMatrix matrix, double epsilon) {
    int length = matrix.columns();
    int columns = matrix.rank();
    float[] last = options.warmStart() ? matrix.q() : null;
    float[] q = last == null ? draw(length, columns) : last;
    Orthonormal.make(q, 0, length, columns, epsilon);
    if (replaceZeroColumns(q, length, columns)) {
      Orthonormal.make(q, 0, length, columns, epsilon);
    }
    return q;
  }

  /**
   * Draws new columns for those that are zero, as after a step without gradients: multiplied by
   * zeros, a matrix would never be sent again.
   */
  private boolean replaceZeroColumns(float[] q, int length, int columns) {
    float[] fresh = null;
    for (int column = 0; column < columns; column++) {
      if (Orthonormal.isZero(q, column * length, length)) {
        fresh = fresh == null ? draw(length, columns) : fresh;
        System.arraycopy(fresh, column * length, q, column * length, length);
      }
    }
    return fresh != null;
  }

  private float[] draw(int length, int columns) {
    return source.columns(length, columns, draws++);
  }
}
