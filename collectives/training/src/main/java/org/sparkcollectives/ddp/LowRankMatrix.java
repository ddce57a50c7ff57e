package org.sparkcollectives.ddp;

import java.util.Arrays;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * A matrix of gradients M that is sent as P Q^T, and what a rank remembers of it from step to step:
 * what the approximation left out, and the last Q. Columns lie one after the other.
 */
final class LowRankMatrix {

  private final int rows;
  private final int columns;
  private final int rank;
  private final MatrixProducts products;

  /** Between steps what was left out; within a step the gradient, and what was left out before. */
  private float[] remainder;

  /** What the remainder's step divided sums by; 0 if there is no remainder. */
  private double remainderDivisor;

  /** The columns of the last Q; null if there is none. */
  private float[] q;

  LowRankMatrix(int rows, int columns, int rank) {
    this.rows = rows;
    this.columns = columns;
    this.rank = rank;
    this.products = new MatrixProducts(rows, columns, rank);
  }

  int rows() {
    return rows;
  }

  int columns() {
    return columns;
  }

  int rank() {
    return rank;
  }

  /** Returns how many numbers P has. */
  int sizeOfP() {
    return rows * rank;
  }

  /** Returns how many numbers Q has. */
  int sizeOfQ() {
    return columns * rank;
  }

  /** Reads a gradient, and adds what was left out before, if anything; the rest is zeros. */
  void read(HostTensor buffer, long offset, int count, double divisor) {
    if (remainder == null) {
      remainder = new float[rows * columns];
    }
    if (remainderDivisor == 0) {
      FloatElements.read(buffer, offset, count, remainder, 0);
      Arrays.fill(remainder, count, remainder.length, 0);
      return;
    }
    // A remainder is a part of a sum: of a mean with another divisor it would be another part.
    float scale = (float) (divisor / remainderDivisor);
    if (scale != 1) {
      for (int i = 0; i < remainder.length; i++) {
        remainder[i] *= scale;
      }
    }
    float[] tile = FloatElements.borrowTile();
    float[] sum = FloatElements.borrowTile();
    for (int at = 0; at < count; at += FloatElements.TILE) {
      int n = Math.min(FloatElements.TILE, count - at);
      FloatElements.read(buffer, offset + at, n, tile, 0);
      System.arraycopy(remainder, at, sum, 0, n);
      MatrixProducts.add(sum, tile, n, 1);
      System.arraycopy(sum, 0, remainder, at, n);
    }
    FloatElements.giveBackTile(sum);
    FloatElements.giveBackTile(tile);
  }

  /** Computes P = M Q for the given orthonormal Q, into {@code p} from {@code at} on. */
  void computeP(float[] orthonormalQ, float[] p, int at) {
    products.times(remainder, orthonormalQ, p, at);
  }

  /** Computes Q = M^T P for an orthonormal P, into {@code q} from {@code qAt} on. */
  void computeQ(float[] p, int pAt, float[] sum, int qAt) {
    products.transposedTimes(remainder, p, pAt, sum, qAt);
  }

  /**
   * Writes P Q^T as the gradient, and keeps what it left out of this rank's.
   *
   * @param share how many times the gradient this rank's part of the sum was, on average
   */
  void write(
      float[] p, int pAt, float[] meanQ, int qAt, Target target, double divisor, double share) {
    float[] remaining = new float[FloatElements.TILE];
    products.outer(
        p,
        pAt,
        meanQ,
        qAt,
        (at, product, length) -> {
          target.write(product, at, length);
          System.arraycopy(remainder, at, remaining, 0, length);
          MatrixProducts.add(remaining, product, length, (float) -share);
          System.arraycopy(remaining, 0, remainder, at, length);
        });
    remainderDivisor = divisor;
  }

  /** Where a gradient lies in a bucket. */
  record Target(HostTensor buffer, long offset, int count) {

    /**
     * Writes elements from {@code at} on, as far as there are so many, and rounds them as it does.
     */
    void write(float[] tile, int at, int length) {
      int within = Math.min(length, count - at);
      if (within <= 0) {
        return;
      }
      FloatElements.round(tile, within, buffer.dtype());
      FloatElements.write(tile, 0, buffer, offset + at, within);
    }
  }

  /** Returns the last Q, or null. */
  float[] q() {
    return q;
  }

  void keepQ(float[] values) {
    q = values;
  }

  void forgetQ() {
    q = null;
  }

  void forgetRemainder() {
    remainderDivisor = 0;
  }

  /** Returns what was left out in the last step; null if that is unknown. */
  float[] remainder() {
    return remainderDivisor == 0 ? null : remainder;
  }

  double remainderDivisor() {
    return remainderDivisor;
  }

  void keepRemainder(float[] values, double divisor) {
    remainder = values;
    remainderDivisor = divisor;
  }

  /** Returns the type in which P and Q of a bucket are sent. */
  static DType wireType(DType gradients) {
    return gradients == DType.FLOAT64 ? DType.FLOAT32 : gradients;
  }
}
