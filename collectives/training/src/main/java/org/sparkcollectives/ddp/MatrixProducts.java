package org.sparkcollectives.ddp;

import java.util.Arrays;
import org.sparkcollectives.spi.tensor.TilePool;

/**
 * Multiplies a large matrix, row by row in memory, with few columns, which lie one after the other.
 *
 * <p>Works on blocks of each row, so that the same block of the columns stays in the cache. A block
 * is copied to the start of an array first, because HotSpot vectorizes a loop only if it indexes
 * all arrays alike. With the copy the loop takes a quarter to two thirds of the time that it takes
 * without.
 */
final class MatrixProducts {

  private final int rows;
  private final int columns;
  private final int rank;

  /** Receives a block of a product, row by row. */
  @FunctionalInterface
  interface BlockOfRow {

    /**
     * Takes a block.
     *
     * @param at where it begins in the matrix
     * @param block its elements, as many as {@code length}; it may be changed
     */
    void take(int at, float[] block, int length);
  }

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

  /** Adds P = M Q to the elements of {@code p} from {@code at} on, which must be zero. */
  void times(float[] matrix, float[] q, float[] p, int at) {
    int block = blockLength();
    float[][] blocksOfQ = new float[rank][block];
    float[] blockOfRow = new float[block];
    float[] products = new float[block];
    for (int from = 0; from < columns; from += block) {
      int length = Math.min(block, columns - from);
      copyBlocks(q, 0, from, blocksOfQ, length);
      for (int i = 0; i < rows; i++) {
        System.arraycopy(matrix, i * columns + from, blockOfRow, 0, length);
        for (int j = 0; j < rank; j++) {
          multiply(products, blockOfRow, blocksOfQ[j], length);
          p[at + j * rows + i] += sum(products, length);
        }
      }
    }
  }

  /** Computes Q = M^T P, into {@code q} from {@code qAt} on. */
  void transposedTimes(float[] matrix, float[] p, int pAt, float[] q, int qAt) {
    int block = blockLength();
    float[][] blocksOfQ = new float[rank][block];
    float[] blockOfRow = new float[block];
    for (int from = 0; from < columns; from += block) {
      int length = Math.min(block, columns - from);
      for (float[] each : blocksOfQ) {
        Arrays.fill(each, 0);
      }
      for (int i = 0; i < rows; i++) {
        System.arraycopy(matrix, i * columns + from, blockOfRow, 0, length);
        for (int j = 0; j < rank; j++) {
          add(blocksOfQ[j], blockOfRow, length, p[pAt + j * rows + i]);
        }
      }
      for (int j = 0; j < rank; j++) {
        System.arraycopy(blocksOfQ[j], 0, q, qAt + j * columns + from, length);
      }
    }
  }

  /** Computes P Q^T, block by block. */
  void outer(float[] p, int pAt, float[] q, int qAt, BlockOfRow taker) {
    int block = blockLength();
    float[][] blocksOfQ = new float[rank][block];
    float[] blockOfRow = new float[block];
    for (int from = 0; from < columns; from += block) {
      int length = Math.min(block, columns - from);
      copyBlocks(q, qAt, from, blocksOfQ, length);
      for (int i = 0; i < rows; i++) {
        Arrays.fill(blockOfRow, 0, length, 0);
        for (int j = 0; j < rank; j++) {
          add(blockOfRow, blocksOfQ[j], length, p[pAt + j * rows + i]);
        }
        taker.take(i * columns + from, blockOfRow, length);
      }
    }
  }

  private int blockLength() {
    return Math.min(TilePool.LENGTH, columns);
  }

  private void copyBlocks(float[] q, int qAt, int from, float[][] blocks, int length) {
    for (int j = 0; j < rank; j++) {
      System.arraycopy(q, qAt + j * columns + from, blocks[j], 0, length);
    }
  }

  private static void multiply(float[] products, float[] a, float[] b, int length) {
    for (int i = 0; i < length; i++) {
      products[i] = a[i] * b[i];
    }
  }

  /** Eight sums, because the additions of one wait for each other. */
  private static float sum(float[] a, int length) {
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    float s4 = 0;
    float s5 = 0;
    float s6 = 0;
    float s7 = 0;
    int i = 0;
    for (; i + 8 <= length; i += 8) {
      s0 += a[i];
      s1 += a[i + 1];
      s2 += a[i + 2];
      s3 += a[i + 3];
      s4 += a[i + 4];
      s5 += a[i + 5];
      s6 += a[i + 6];
      s7 += a[i + 7];
    }
    for (; i < length; i++) {
      s0 += a[i];
    }
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
  }

  /** Adds the product of an array and a factor. */
  static void add(float[] sum, float[] addend, int length, float factor) {
    for (int i = 0; i < length; i++) {
      sum[i] += factor * addend[i];
    }
  }
}
