package org.sparkcollectives.spi.tensor;

import org.sparkcollectives.Tensor;

/**
 * A tensor of this library, in any memory: what operations have to know before they begin.
 *
 * <p>Tensors of different devices never share memory.
 */
public interface TensorView extends Tensor {

  /**
   * Returns the tensor, of any device.
   *
   * @throws IllegalArgumentException if it is not ours
   */
  static TensorView of(Tensor tensor) {
    if (tensor instanceof TensorView view) {
      return view;
    }
    throw new IllegalArgumentException(
        tensor == null
            ? "The tensor is null"
            : "Only tensors made by Tensor.of, wrap or allocate, or in the memory of a GPU by"
                + " DeviceTensor, can be used here, not a "
                + tensor.getClass().getName());
  }

  @Override
  TensorView slice(long offset, long count);

  /**
   * Copies all elements to host memory; the types and counts are equal. Blocks until that is done.
   */
  void copyTo(HostTensor destination);

  /** Returns whether the two share the memory of an element, as far as that can be known. */
  boolean overlaps(TensorView other);

  /** Returns whether both are the same elements in memory. */
  boolean isSameMemoryAs(TensorView other);
}
