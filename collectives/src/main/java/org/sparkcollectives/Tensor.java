package org.sparkcollectives;

import java.nio.ByteBuffer;

/**
 * A typed, shaped view of memory. Contiguous, in row-major order, without strides.
 *
 * <p>A tensor never copies what it wraps: a collective reads and writes the caller's array or
 * buffer itself. Until the {@link Work} of an operation is done, no other code may write the
 * operation's tensors, nor read those that receive its result. The contents of a failed operation's
 * tensors are undefined. A tensor has no state of its own besides the memory, and may be used from
 * any thread under that rule.
 *
 * <p>Only the implementations of this library are accepted.
 */
public interface Tensor {

  private static TensorProvider provider() {
    return Library.as(TensorProvider.class);
  }

  /** Returns a {@link DType#FLOAT32} tensor of one dimension over this very array. */
  static Tensor of(float... values) {
    return provider().wrap(DType.FLOAT32, values);
  }

  /** Returns a {@link DType#FLOAT64} tensor of one dimension over this very array. */
  static Tensor of(double... values) {
    return provider().wrap(DType.FLOAT64, values);
  }

  /** Returns a {@link DType#INT32} tensor of one dimension over this very array. */
  static Tensor of(int... values) {
    return provider().wrap(DType.INT32, values);
  }

  /** Returns a {@link DType#INT64} tensor of one dimension over this very array. */
  static Tensor of(long... values) {
    return provider().wrap(DType.INT64, values);
  }

  /** Returns an {@link DType#INT8} tensor of one dimension over this very array. */
  static Tensor of(byte... values) {
    return provider().wrap(DType.INT8, values);
  }

  /** Returns an {@link DType#INT16} tensor of one dimension over this very array. */
  static Tensor of(short... values) {
    return provider().wrap(DType.INT16, values);
  }

  /** Returns a {@link DType#BOOL} tensor of one dimension over this very array. */
  static Tensor of(boolean... values) {
    return provider().wrap(DType.BOOL, values);
  }

  /**
   * Returns a tensor of one dimension over this very array.
   *
   * <p>The array's type follows from the size of an element: {@code short[]} for {@link
   * DType#FLOAT16}, {@link DType#BFLOAT16} and {@link DType#INT16}; {@code byte[]} for the 8-bit
   * types; {@code boolean[]} or {@code byte[]} for {@link DType#BOOL}; interleaved {@code float[]}
   * or {@code double[]} of even length for the complex types.
   *
   * @throws IllegalArgumentException if the array's type or length does not fit
   */
  static Tensor wrap(DType dtype, Object primitiveArray) {
    return provider().wrap(dtype, primitiveArray);
  }

  /**
   * Returns a tensor of one dimension over a direct buffer, from its position to its limit at the
   * time of the call. The buffer's position and limit are not changed.
   *
   * @throws IllegalArgumentException if the buffer is on the heap, read-only, not in native byte
   *     order, or does not hold a whole number of elements
   */
  static Tensor wrap(DType dtype, ByteBuffer direct) {
    return provider().wrap(dtype, direct);
  }

  /**
   * Returns a tensor of one dimension and {@code count} zeros in a new array on the heap.
   *
   * @throws IllegalArgumentException if that is more than an array can hold, about 2<sup>31</sup>
   *     elements; wrap direct buffers beyond
   */
  static Tensor allocate(DType dtype, long count) {
    return provider().allocate(dtype, count);
  }

  /**
   * Returns a tensor of zeros of a shape, in a new array on the heap.
   *
   * @param shape the extent of each dimension; none for a single element without dimensions
   * @throws IllegalArgumentException if an extent is negative, or that is more than an array can
   *     hold, see {@link #allocate(DType, long)}
   */
  static Tensor allocate(DType dtype, long... shape) {
    return provider().allocate(dtype, provider().count(shape)).reshape(shape);
  }

  /** Returns the type of the elements. */
  DType dtype();

  /**
   * Returns the number of elements (PyTorch's {@code numel}); the product of the {@link #shape()}.
   */
  long count();

  /** Returns the size of all elements in bytes. */
  default long byteSize() {
    return count() * dtype().bytes();
  }

  /**
   * Returns the extent of each dimension; empty for a single element without dimensions. A copy.
   */
  long[] shape();

  /** Returns the device whose memory it is. */
  Device device();

  /**
   * Returns a view of {@code count} elements from the element {@code offset} on. It has one
   * dimension, whatever the shape of this tensor: {@link #narrow} keeps the other dimensions.
   *
   * @throws IllegalArgumentException if they are not all within the tensor
   */
  Tensor slice(long offset, long count);

  /**
   * Returns a view of some rows: of {@code length} indices of the first dimension from {@code
   * start} on, with all other dimensions as they are. PyTorch's {@code narrow(0, start, length)}.
   *
   * @throws IllegalArgumentException if there are no such rows, or this tensor has no dimensions
   */
  default Tensor narrow(long start, long length) {
    long[] shape = shape();
    if (shape.length == 0 || start < 0 || length < 0 || start > shape[0] - length) {
      throw new IllegalArgumentException(
          "The rows " + start + " to " + (start + length - 1) + " are not all within " + this);
    }
    long row = shape[0] == 0 ? 0 : count() / shape[0];
    shape[0] = length;
    return slice(start * row, length * row).reshape(shape);
  }

  /**
   * Returns the same memory in another shape.
   *
   * @throws IllegalArgumentException if the shape does not have {@link #count()} elements
   */
  Tensor reshape(long... shape);

  /**
   * Copies all elements into an array of the type that {@link #wrap(DType, Object)} names.
   *
   * @throws IllegalArgumentException if it is of another type or length
   */
  void copyTo(Object primitiveArray);

  /**
   * Copies all elements from an array of the type that {@link #wrap(DType, Object)} names.
   *
   * @throws IllegalArgumentException if it is of another type or length
   */
  void copyFrom(Object primitiveArray);

  /**
   * Copies all elements from a tensor of the same type and count; the shapes may differ.
   *
   * @throws IllegalArgumentException if its type or count is another
   */
  void copyFrom(Tensor other);

  /**
   * Returns the heap array that this tensor lies in, or null if it lies elsewhere. For a {@link
   * #slice} it is the whole array, in which the slice may begin anywhere.
   */
  Object array();
}
