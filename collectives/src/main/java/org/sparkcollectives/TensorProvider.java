package org.sparkcollectives;

import java.nio.ByteBuffer;

/**
 * Creates what the static methods of {@link Tensor} return. Apart from {@link CollectivesProvider},
 * so that tensors need no groups. Programs call the static methods instead.
 */
interface TensorProvider {

  /** Returns the tensor of {@link Tensor#wrap(DType, Object)}. */
  Tensor wrap(DType dtype, Object primitiveArray);

  /** Returns the tensor of {@link Tensor#wrap(DType, ByteBuffer)}. */
  Tensor wrap(DType dtype, ByteBuffer direct);

  /** Returns the tensor of {@link Tensor#allocate(DType, long)}. */
  Tensor allocate(DType dtype, long count);

  /**
   * Returns the number of elements of a shape.
   *
   * @throws IllegalArgumentException if an extent is negative or the product exceeds a {@code long}
   */
  long count(long... shape);
}
