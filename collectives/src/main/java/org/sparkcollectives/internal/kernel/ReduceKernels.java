package org.sparkcollectives.internal.kernel;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.HalfFormat;

/** Selects the kernel for a reduction and a type. */
public final class ReduceKernels {

  /** The kernels that have no factor, each of which serves all. */
  private static final Map<ReduceOp.Kind, Map<DType, ReduceKernel>> SHARED = shared();

  private ReduceKernels() {}

  private static Map<ReduceOp.Kind, Map<DType, ReduceKernel>> shared() {
    Map<ReduceOp.Kind, Map<DType, ReduceKernel>> all = new EnumMap<>(ReduceOp.Kind.class);
    for (ReduceOp.Kind kind : ReduceOp.Kind.values()) {
      Map<DType, ReduceKernel> byType = new EnumMap<>(DType.class);
      for (DType dtype : DType.values()) {
        if (kind != ReduceOp.Kind.PREMUL_SUM && example(kind).supports(dtype)) {
          byType.put(dtype, make(example(kind), dtype));
        }
      }
      all.put(kind, byType);
    }
    return all;
  }

  /**
   * Returns the kernel of a reduction.
   *
   * @throws IllegalArgumentException if the type cannot be reduced so, see {@link
   *     ReduceOp#supports}
   */
  public static ReduceKernel of(ReduceOp op, DType dtype) {
    if (op == null || dtype == null) {
      throw new IllegalArgumentException(
          "A reduction needs an operation and a type, not " + op + " of " + dtype);
    }
    if (!op.supports(dtype)) {
      throw new IllegalArgumentException(refusal(op, dtype));
    }
    ReduceKernel shared = SHARED.get(op.kind()).get(dtype);
    return shared == null ? make(op, dtype) : shared;
  }

  private static ReduceKernel make(ReduceOp op, DType dtype) {
    ReduceOp.Kind kind = op.kind();
    return switch (dtype) {
      case BOOL ->
          new SameTypeKernel<>(
              dtype,
              byte[].class,
              TruthLoops.reduction(kind),
              op,
              null,
              (array, from, to, contributions) -> TruthLoops.canonicalize(array, from, to));
      case UINT8 -> integers(op, dtype, byte[].class, UnsignedByteLoops.reduction(kind));
      case INT8 -> integers(op, dtype, byte[].class, ByteLoops.reduction(kind));
      case INT16 -> integers(op, dtype, short[].class, ShortLoops.reduction(kind));
      case INT32 -> integers(op, dtype, int[].class, IntLoops.reduction(kind));
      case INT64 -> integers(op, dtype, long[].class, LongLoops.reduction(kind));
      case FLOAT16 -> halves(op, HalfFormat.FLOAT16);
      case BFLOAT16 -> halves(op, HalfFormat.BFLOAT16);
      case FLOAT32, COMPLEX64 ->
          new SameTypeKernel<>(
              dtype,
              float[].class,
              FloatLoops.reduction(kind),
              op,
              kind == ReduceOp.Kind.PREMUL_SUM ? FloatLoops::multiply : null,
              kind == ReduceOp.Kind.AVG ? FloatLoops::divide : null);
      case FLOAT64, COMPLEX128 ->
          new SameTypeKernel<>(
              dtype,
              double[].class,
              DoubleLoops.reduction(kind),
              op,
              kind == ReduceOp.Kind.PREMUL_SUM ? DoubleLoops::multiply : null,
              kind == ReduceOp.Kind.AVG ? DoubleLoops::divide : null);
      case FLOAT8_E4M3, FLOAT8_E5M2 -> throw new IllegalArgumentException(refusal(op, dtype));
    };
  }

  private static <A> ReduceKernel integers(
      ReduceOp op, DType dtype, Class<A> arrayClass, ArrayReduction<A> reduction) {
    return new SameTypeKernel<>(dtype, arrayClass, reduction, op, null, null);
  }

  private static ReduceKernel halves(ReduceOp op, HalfFormat format) {
    return HalfExtremes.include(op.kind())
        ? new SameTypeKernel<>(
            format.dtype(),
            short[].class,
            HalfExtremes.reduction(format, op.kind()),
            op,
            null,
            null)
        : new HalfKernel(format, op);
  }

  private static String refusal(ReduceOp op, DType dtype) {
    String operations =
        Arrays.stream(ReduceOp.Kind.values())
            .filter(kind -> example(kind).supports(dtype))
            .map(Enum::name)
            .collect(Collectors.joining(", "));
    String types =
        Arrays.stream(DType.values())
            .filter(op::supports)
            .map(DType::label)
            .collect(Collectors.joining(", "));
    return op
        + " cannot be applied to "
        + dtype.label()
        + ". "
        + (operations.isEmpty()
            ? dtype.label() + " is moved, never reduced; "
            : dtype.label() + " can be reduced by " + operations + "; ")
        + op
        + " works on "
        + types;
  }

  /** Returns a reduction of a kind. */
  private static ReduceOp example(ReduceOp.Kind kind) {
    return switch (kind) {
      case SUM -> ReduceOp.SUM;
      case AVG -> ReduceOp.AVG;
      case PRODUCT -> ReduceOp.PRODUCT;
      case MIN -> ReduceOp.MIN;
      case MAX -> ReduceOp.MAX;
      case BAND -> ReduceOp.BAND;
      case BOR -> ReduceOp.BOR;
      case BXOR -> ReduceOp.BXOR;
      case PREMUL_SUM -> ReduceOp.premulSum(1);
    };
  }
}
