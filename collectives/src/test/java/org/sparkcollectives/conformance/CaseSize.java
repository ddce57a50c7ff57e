package org.sparkcollectives.conformance;

import org.sparkcollectives.DType;

/** How many elements a tensor of a case has, or a rank's part of one. */
enum CaseSize {
  /** None at all. */
  EMPTY,
  /** Fewer than there are ranks. */
  ONE,
  /** Divisible neither by the ranks nor by anything that is done in blocks. */
  ODD,
  /** More than is moved at once: than a tile of 16 KiB in one memory, a segment of 128 KiB else. */
  LARGE;

  private static final int LARGE_BYTES_IN_ONE_MEMORY = 24_000;
  private static final int LARGE_BYTES_OVER_SOCKETS = 170_000;

  /** The most elements of a type. */
  static int largest(DType dtype) {
    return LARGE.count(dtype, false);
  }

  /**
   * A number of elements.
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

  /** A count for each rank, which differ where there is something to differ in. */
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
