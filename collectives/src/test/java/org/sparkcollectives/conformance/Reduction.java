package org.sparkcollectives.conformance;

import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;

/** The reductions, with each rank's argument. */
enum Reduction {
  SUM,
  AVG,
  PRODUCT,
  MIN,
  MAX,
  BAND,
  BOR,
  BXOR,
  PREMUL_SUM;

  /** Returns the argument of rank {@code rank}. */
  ReduceOp of(int rank) {
    return switch (this) {
      case SUM -> ReduceOp.SUM;
      case AVG -> ReduceOp.AVG;
      case PRODUCT -> ReduceOp.PRODUCT;
      case MIN -> ReduceOp.MIN;
      case MAX -> ReduceOp.MAX;
      case BAND -> ReduceOp.BAND;
      case BOR -> ReduceOp.BOR;
      case BXOR -> ReduceOp.BXOR;
      case PREMUL_SUM -> ReduceOp.premulSum(factor(rank));
    };
  }

  /** Returns the factor of a rank's elements; no power of two, so that products round. */
  double factor(int rank) {
    return this == PREMUL_SUM ? 0.7 + 0.4 * rank : 1;
  }

  /**
   * Returns whether elements of a type can be reduced so. The table is repeated here and not taken
   * from the code under test, so that a loss in that is found.
   */
  boolean supports(DType dtype) {
    return switch (dtype) {
      case BOOL, UINT8, INT8, INT16, INT32, INT64 -> this != AVG && this != PREMUL_SUM;
      case FLOAT16, BFLOAT16, FLOAT32, FLOAT64 -> this != BAND && this != BOR && this != BXOR;
      case COMPLEX64, COMPLEX128 -> this == SUM || this == AVG || this == PREMUL_SUM;
      case FLOAT8_E4M3, FLOAT8_E5M2 -> false;
    };
  }
}
