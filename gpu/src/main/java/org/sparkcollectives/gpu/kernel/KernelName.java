package org.sparkcollectives.gpu.kernel;

import java.util.Locale;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;

/**
 * A kernel's name, and the numbers on which it computes.
 *
 * @param module the name of the text that contains it, without {@code .ptx}
 * @param function its name there
 * @param perElement how many numbers of the kernel make an element of the tensor: 2 for complex
 *     numbers, whose parts the kernel takes as real numbers
 */
record KernelName(String module, String function, int perElement) {

  /**
   * Returns the n-way reduction.
   *
   * @throws IllegalArgumentException if the reduction does not exist for the type
   */
  static KernelName reduce(ReduceOp op, DType dtype) {
    if (!op.supports(dtype) || op.kind() == ReduceOp.Kind.PREMUL_SUM) {
      throw new IllegalArgumentException(
          op + " of " + dtype.label() + " is not among the reductions of a GPU");
    }
    String operation =
        dtype == DType.BOOL ? logical(op.kind()) : op.kind().name().toLowerCase(Locale.ROOT);
    return new KernelName("reduce", "reduce_" + operation + "_" + real(dtype), parts(dtype));
  }

  private static String logical(ReduceOp.Kind kind) {
    return switch (kind) {
      case SUM, MAX, BOR -> "bor";
      case PRODUCT, MIN, BAND -> "band";
      case BXOR -> "bxor";
      case AVG, PREMUL_SUM -> throw new IllegalArgumentException(kind + " of booleans");
    };
  }

  /**
   * Returns the multiplication by a factor, with or without a change of the type.
   *
   * @throws IllegalArgumentException if there is no such conversion
   */
  static KernelName convert(DType from, DType to) {
    if (from == to && (from.isFloatingPoint() || from.isComplex())) {
      return new KernelName("convert", "scale_" + real(from), parts(from));
    }
    if (from == DType.FLOAT32 && isHalf(to)) {
      return new KernelName("convert", "compress_" + to.label(), 1);
    }
    if (isHalf(from) && to == DType.FLOAT32) {
      return new KernelName("convert", "decompress_" + from.label(), 1);
    }
    throw new IllegalArgumentException(
        "A GPU converts float32 to float16 or bfloat16 and back, and scales floating-point and"
            + " complex numbers; not "
            + from.label()
            + " to "
            + to.label());
  }

  /** Returns the search for NaN, or null for a type that has none. */
  static KernelName nanCheck(DType dtype) {
    boolean has =
        dtype.isFloatingPoint()
            || dtype.isComplex()
            || dtype == DType.FLOAT8_E4M3
            || dtype == DType.FLOAT8_E5M2;
    return has ? new KernelName("nan_check", "nan_check_" + real(dtype), parts(dtype)) : null;
  }

  private static boolean isHalf(DType dtype) {
    return dtype == DType.FLOAT16 || dtype == DType.BFLOAT16;
  }

  private static String real(DType dtype) {
    return switch (dtype) {
      case COMPLEX64 -> DType.FLOAT32.label();
      case COMPLEX128 -> DType.FLOAT64.label();
      default -> dtype.label();
    };
  }

  private static int parts(DType dtype) {
    return dtype.isComplex() ? 2 : 1;
  }
}
