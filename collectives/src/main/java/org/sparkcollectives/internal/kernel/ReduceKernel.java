package org.sparkcollectives.internal.kernel;

import java.nio.ByteBuffer;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The element-wise arithmetic of one reduction of one type. Positions and counts are in elements.
 *
 * <p>A reduction of n tensors has these steps: {@link #premultiply} on each rank's own
 * contribution, which is then an accumulator itself if {@link #reducesInPlace()}, else is copied
 * into one by {@link #load}; {@link #accumulate} once for each other contribution; {@link #finish}
 * on the outcome. The caller chooses the order of the contributions, which decides the bits of a
 * floating-point result.
 *
 * <p>Sums and products of the half types accumulate in float32 and are rounded once, in {@link
 * #finish}: there {@link #accumulatorType()} differs from {@link #inputType()}. A minimum or
 * maximum is one of its contributions, and rounds nothing.
 *
 * <p>A tensor of another type, a range outside of a tensor, or a source that is too short is an
 * {@link IllegalArgumentException}, and nothing is written.
 *
 * <p>Kernels are stateless to the caller and may be used by any number of threads at once.
 */
public interface ReduceKernel {

  /** Returns the reduction that the kernel carries out. */
  ReduceOp op();

  /** Returns whether {@link #premultiply} does anything. */
  default boolean premultiplies() {
    return op().kind() == ReduceOp.Kind.PREMUL_SUM;
  }

  /** Returns the type of the contributions. */
  DType inputType();

  /** Returns the type in which contributions are added up. */
  DType accumulatorType();

  /** Returns the type of what {@link #finish} writes. */
  default DType resultType() {
    return inputType();
  }

  /**
   * Returns whether the accumulator's type is the input's, so that a contribution can be its own
   * accumulator.
   */
  default boolean reducesInPlace() {
    return inputType() == accumulatorType();
  }

  /**
   * Applies the factor of {@link ReduceOp#premulSum} in place; does nothing for other reductions.
   * The factor is rounded to float32 for all but {@code float64} and {@code complex128}; the
   * product is rounded to the input's type, in which it is sent.
   */
  void premultiply(HostTensor input, long offset, long count);

  /** Copies a contribution into an accumulator, converting it to the accumulator's type. */
  void load(HostTensor accumulator, long offset, HostTensor input, long inputOffset, long count);

  /**
   * Reduces {@code count} input elements of {@code source}, whose position advances, into place.
   *
   * @param source in native byte order, at any position
   */
  void accumulate(HostTensor accumulator, long offset, int count, ByteBuffer source);

  /** Reduces {@code count} elements of another tensor of the input's type into place. */
  void accumulate(
      HostTensor accumulator, long offset, HostTensor source, long sourceOffset, long count);

  /**
   * Turns an accumulator into the result: divides an average by {@code contributions} and rounds to
   * the result's type. Works in place where the types are equal.
   */
  void finish(
      HostTensor result,
      long offset,
      HostTensor accumulator,
      long accumulatorOffset,
      long count,
      int contributions);
}
