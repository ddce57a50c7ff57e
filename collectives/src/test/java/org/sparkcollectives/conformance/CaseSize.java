package org.sparkcollectives.conformance;

import org.sparkcollectives.DType;

/** The number of elements of a case's tensor, or of a rank's part of one. */
enum CaseSize {
  /** No elements. */
  EMPTY,
  /** Fewer elements than ranks. */
  ONE,
  /** A number that neither the ranks nor any block size divides. */
  ODD,
  /**
   * More than is moved at once: than a tile of 16 KiB in one memory, else than a segment of 128
   * KiB.
   */
  LARGE;

  private static final int LARGE_BYTES_IN_ONE_MEMORY = 24_000;
  private static final int LARGE_BYTES_OVER_SOCKETS = 170_000;

  /** Returns the most elements of a type. */
  static int largest(DType dtype) {
    return LARGE.count(dtype, false);
  }

  /**
   * Returns a number of elements.
   *
   * @param oneMemory whether the ranks see each other's tensors
   */
  int count(DType dtype, boolean oneMemory) {
    int large = oneMemory ? LARGE_BYTES_IN_ONE_MEMORY : LARGE_BYTES_OVER_SOCKETS;
    return switch (this) {
      case EMPTY -> 0;
      case ONE -> 1;
      case ODD -> 37;
      case LARGE -> large / dtype.bytes() + 3;
    };
  }

  /** Returns a count for each rank; they differ where the size allows it. */
  int[] uneven(DType dtype, int world, boolean oneMemory) {
    int[] counts = new int[world];
    for (int rank = 0; rank < world; rank++) {
      counts[rank] =
          switch (this) {
            case EMPTY -> 0;
            case ONE -> (rank + 1) % 2;
            case ODD -> 5 * rank + (rank % 3 == 1 ? 0 : 3);
            case LARGE -> count(dtype, oneMemory) / (rank + 1);
          };
    }
    return counts;
  }
}
