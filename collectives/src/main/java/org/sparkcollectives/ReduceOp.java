package org.sparkcollectives;

import java.io.Serializable;
import java.util.Objects;

/**
 * The way in which the elements of several ranks become one.
 *
 * <p>Integers wrap around on overflow. The minimum and the maximum of numbers with a NaN among them
 * is NaN. The half types are accumulated in float32 and rounded once. The 8-bit floating-point
 * types cannot be reduced, only moved. Backends for devices may round in another way, and then say
 * so.
 */
public final class ReduceOp implements Serializable {

  private static final long serialVersionUID = 1;

  /** The kinds of reduction, in the order of c10d's {@code ReduceOp}. */
  public enum Kind {
    /** The sum; of truth values, the logical or. */
    SUM,
    /** The sum divided by the number of ranks; floating-point and complex types only. */
    AVG,
    /** The product; of truth values, the logical and. Not for complex types. */
    PRODUCT,
    /** The smallest; of truth values, the logical and. Not for complex types. */
    MIN,
    /** The largest; of truth values, the logical or. Not for complex types. */
    MAX,
    /** The bitwise and, of integers and truth values. */
    BAND,
    /** The bitwise or, of integers and truth values. */
    BOR,
    /** The bitwise exclusive or, of integers and truth values. */
    BXOR,
    /**
     * The sum after each rank's elements were multiplied by that rank's factor; floating-point and
     * complex types only.
     */
    PREMUL_SUM
  }

  /** See {@link Kind#SUM}. */
  public static final ReduceOp SUM = new ReduceOp(Kind.SUM, 1);

  /** See {@link Kind#AVG}. */
  public static final ReduceOp AVG = new ReduceOp(Kind.AVG, 1);

  /** See {@link Kind#PRODUCT}. */
  public static final ReduceOp PRODUCT = new ReduceOp(Kind.PRODUCT, 1);

  /** See {@link Kind#MIN}. */
  public static final ReduceOp MIN = new ReduceOp(Kind.MIN, 1);

  /** See {@link Kind#MAX}. */
  public static final ReduceOp MAX = new ReduceOp(Kind.MAX, 1);

  /** See {@link Kind#BAND}. */
  public static final ReduceOp BAND = new ReduceOp(Kind.BAND, 1);

  /** See {@link Kind#BOR}. */
  public static final ReduceOp BOR = new ReduceOp(Kind.BOR, 1);

  /** See {@link Kind#BXOR}. */
  public static final ReduceOp BXOR = new ReduceOp(Kind.BXOR, 1);

  private final Kind kind;
  private final double factor;

  private ReduceOp(Kind kind, double factor) {
    this.kind = kind;
    this.factor = factor;
  }

  /**
   * Returns the sum of the ranks' tensors, each multiplied by {@code factor} of its rank first;
   * floating-point and complex types only. The factor may differ from rank to rank.
   */
  public static ReduceOp premulSum(double factor) {
    return new ReduceOp(Kind.PREMUL_SUM, factor);
  }

  /** Returns the kind of reduction. */
  public Kind kind() {
    return kind;
  }

  /**
   * Returns the number that stands for this kind of reduction in c10d's {@code ReduceOp.RedOpType},
   * from 0 for SUM to 8 for PREMUL_SUM. It never changes.
   */
  public int code() {
    return kind.ordinal();
  }

  /**
   * Returns the reduction with a code.
   *
   * @throws IllegalArgumentException if there is none, and for that of {@link #premulSum}, which
   *     needs a factor
   */
  public static ReduceOp ofCode(int code) {
    return switch (code) {
      case 0 -> SUM;
      case 1 -> AVG;
      case 2 -> PRODUCT;
      case 3 -> MIN;
      case 4 -> MAX;
      case 5 -> BAND;
      case 6 -> BOR;
      case 7 -> BXOR;
      case 8 ->
          throw new IllegalArgumentException(
              "The reduction PREMUL_SUM, with the code 8, needs a factor: use premulSum(factor)");
      default ->
          throw new IllegalArgumentException(
              "There is no reduction with the code " + code + ", only 0 (SUM) to 8 (PREMUL_SUM)");
    };
  }

  /**
   * Returns the factor by which this rank's elements are multiplied first; 1 but for {@link
   * #premulSum}.
   */
  public double factor() {
    return factor;
  }

  /** Returns whether elements of {@code dtype} can be reduced so. */
  public boolean supports(DType dtype) {
    return switch (kind) {
      case SUM -> reducible(dtype);
      case AVG, PREMUL_SUM -> dtype.isFloatingPoint() || dtype.isComplex();
      case PRODUCT, MIN, MAX -> reducible(dtype) && !dtype.isComplex();
      case BAND, BOR, BXOR -> dtype.isInteger() || dtype == DType.BOOL;
    };
  }

  private static boolean reducible(DType dtype) {
    return dtype != DType.FLOAT8_E4M3 && dtype != DType.FLOAT8_E5M2;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ReduceOp that
        && kind == that.kind
        && Double.compare(factor, that.factor) == 0;
  }

  @Override
  public int hashCode() {
    return Objects.hash(kind, factor);
  }

  @Override
  public String toString() {
    return kind == Kind.PREMUL_SUM ? kind + "(" + factor + ")" : kind.toString();
  }
}
