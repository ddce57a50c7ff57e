package org.sparkcollectives.ddp;

import java.util.Arrays;

/**
 * Multiplies a large matrix, row by row in memory, with few columns, which lie one after the other.
 * Works on blocks of each row, so that the same block of the columns stays in the cache.
 */
final class MatrixProducts {

  private static final int BLOCK = 2048;

  private final int rows;
  private final int columns;
  private final int rank;

  /**
   * Creates the products of a shape.
   *
   * @param rows the rows n of the large matrix M
   * @param columns its columns m
   * @param rank the columns of P, of length n, and of Q, of length m
   */
  MatrixProducts(int rows, int columns, int rank) {
    this.rows = rows;
    this.columns = columns;
    this.rank = rank;
  }

  /** Computes P = M Q, into {@code p} from {@code at} on, which holds zeros. */
  void times(float[] matrix, float[] q, float[] p, int at) {
    for (int from = 0; from < columns; from += BLOCK) {
      int length = Math.min(BLOCK, columns - from);
      for (int i = 0; i < rows; i++) {
        for (int j = 0; j < rank; j++) {
          p[at + j * rows + i] += dot(matrix, i * columns + from, q, j * columns + from, length);
        }
      }
    }
  }

  /** Computes Q = M^T P, into {@code q} from {@code qAt} on, which holds zeros. */
  void transposedTimes(float[] matrix, float[] p, int pAt, float[] q, int qAt) {
    for (int from = 0; from < columns; from += BLOCK) {
      int length = Math.min(BLOCK, columns - from);
      for (int i = 0; i < rows; i++) {
        for (int j = 0; j < rank; j++) {
          add(
              q,
              qAt + j * columns + from,
              matrix,
              i * columns + from,
              length,
              p[pAt + j * rows + i]);
        }
      }
    }
  }

  /** Computes a part of a row of P Q^T into {@code row}, from its start on. */
  void outerRow(
      float[] p, int pAt, float[] q, int qAt, int row, int from, float[] out, int length) {
    Arrays.fill(out, 0, length, 0);
    for (int j = 0; j < rank; j++) {
      add(out, 0, q, qAt + j * columns + from, length, p[pAt + j * rows + row]);
    }
  }

  /** Four sums, because the additions of one wait for each other. */
  private static float dot(float[] a, int aAt, float[] b, int bAt, int length) {
    float first = 0;
    float second = 0;
    float third = 0;
    float fourth = 0;
    int i = 0;
    for (; i + 4 <= length; i += 4) {
      first += a[aAt + i] * b[bAt + i];
      second += a[aAt + i + 1] * b[bAt + i + 1];
      third += a[aAt + i + 2] * b[bAt + i + 2];
      fourth += a[aAt + i + 3] * b[bAt + i + 3];
    }
    for (; i < length; i++) {
      first += a[aAt + i] * b[bAt + i];
    }
    return (first + second) + (third + fourth);
  }

  private static void add(float[] sum, int at, float[] addend, int from, int length, float factor) {
    for (int i = 0; i < length; i++) {
      sum[at + i] += factor * addend[from + i];
    }
  }
}
