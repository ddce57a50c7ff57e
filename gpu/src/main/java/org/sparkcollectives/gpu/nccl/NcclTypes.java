package org.sparkcollectives.gpu.nccl;

import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;

/**
 * Maps types and reductions to NCCL's: {@code ncclDataType_t} and {@code ncclRedOp_t}.
 *
 * <p>A complex number is two real ones. Types that NCCL does not have move as bytes. Booleans are
 * bytes of 0 and 1: their sum is computed as the maximum, their product as the minimum.
 *
 * <p>NCCL's arithmetic is its own ({@code src/device/reduce_kernel.h}): half types are rounded at
 * each addition, an average is a sum of values multiplied by 1/n, and minimum and maximum are those
 * of {@code fminf} and {@code fmaxf}, which ignore a NaN.
 */
final class NcclTypes {

  private static final int INT8 = 0;
  private static final int UINT8 = 1;
  private static final int INT32 = 2;
  private static final int INT64 = 4;
  private static final int FLOAT16 = 6;
  private static final int FLOAT32 = 7;
  private static final int FLOAT64 = 8;
  private static final int BFLOAT16 = 9;

  private static final int SUM = 0;
  private static final int PRODUCT = 1;
  private static final int MAX = 2;
  private static final int MIN = 3;
  private static final int AVG = 4;

  private NcclTypes() {}

  /** Returns the type as which NCCL moves elements. */
  static int of(DType dtype) {
    return switch (dtype) {
      case INT8 -> INT8;
      case BOOL, UINT8, INT16, FLOAT8_E4M3, FLOAT8_E5M2 -> UINT8;
      case INT32 -> INT32;
      case INT64 -> INT64;
      case FLOAT16 -> FLOAT16;
      case BFLOAT16 -> BFLOAT16;
      case FLOAT32, COMPLEX64 -> FLOAT32;
      case FLOAT64, COMPLEX128 -> FLOAT64;
    };
  }

  /** Returns how many of NCCL's elements one element is. */
  static int elements(DType dtype) {
    return dtype == DType.INT16 || dtype.isComplex() ? 2 : 1;
  }

  /**
   * Checks that NCCL supports the reduction for the type.
   *
   * @throws IllegalArgumentException if it does not
   */
  static void requireReducible(DType dtype, ReduceOp op) {
    if (dtype == DType.INT16) {
      throw new IllegalArgumentException(
          "NCCL cannot reduce int16; use int32, or the backend cuda:netty");
    }
    switch (op.kind()) {
      case BAND, BOR, BXOR ->
          throw new IllegalArgumentException(
              "NCCL has no reduction " + op + "; the backend cuda:netty has");
      default -> {
        // NCCL has the others.
      }
    }
  }

  /** Returns the number of a reduction that exists without being created first. */
  static int of(DType dtype, ReduceOp op) {
    boolean isBool = dtype == DType.BOOL;
    return switch (op.kind()) {
      case SUM -> isBool ? MAX : SUM;
      case AVG -> AVG;
      case PRODUCT -> isBool ? MIN : PRODUCT;
      case MIN -> MIN;
      case MAX -> MAX;
      case PREMUL_SUM, BAND, BOR, BXOR ->
          throw new IllegalArgumentException("NCCL has no number for " + op);
    };
  }
}
