package org.sparkcollectives.spi.tensor;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Locale;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.Tensor;

/**
 * A tensor in the memory of the JVM's process: a heap array or a direct buffer.
 *
 * <p>This is all that transports and kernels know of memory: elements are copied in bulk between a
 * tensor and buffers or arrays. Positions and counts are in elements. A range outside of the
 * tensor, or a buffer without enough room, is an {@link IllegalArgumentException}, and nothing is
 * copied.
 */
public abstract sealed class HostTensor implements TensorView permits HeapTensor, DirectTensor {

  private final DType dtype;
  private final long count;
  private final long[] shape;

  HostTensor(DType dtype, long count, long[] shape) {
    this.dtype = dtype;
    this.count = count;
    this.shape = shape;
  }

  /** Returns the tensor of {@link Tensor#wrap(DType, Object)}. */
  public static HostTensor wrap(DType dtype, Object primitiveArray) {
    return HeapTensor.over(dtype, primitiveArray);
  }

  /** Returns the tensor of {@link Tensor#wrap(DType, ByteBuffer)}. */
  public static HostTensor wrap(DType dtype, ByteBuffer direct) {
    return DirectTensor.over(dtype, direct);
  }

  /** Returns the tensor of {@link Tensor#allocate(DType, long)}. */
  public static HostTensor allocate(DType dtype, long count) {
    return HeapTensor.zeros(dtype, count);
  }

  /**
   * Returns the number of elements of a shape.
   *
   * @throws IllegalArgumentException if an extent is negative or the product exceeds a {@code long}
   */
  public static long count(long[] shape) {
    return Shapes.count(shape);
  }

  /**
   * Returns the tensor as host memory.
   *
   * @throws IllegalArgumentException if it is not ours, or lies on another device
   */
  public static HostTensor of(Tensor tensor) {
    if (tensor instanceof HostTensor host) {
      return host;
    }
    throw new IllegalArgumentException(
        tensor == null
            ? "The tensor is null"
            : "Only tensors in host memory, made by Tensor.of, wrap or allocate, can be used here,"
                + " not a "
                + tensor.getClass().getName());
  }

  @Override
  public final DType dtype() {
    return dtype;
  }

  @Override
  public final long count() {
    return count;
  }

  @Override
  public final long[] shape() {
    return shape.clone();
  }

  @Override
  public final Device device() {
    return Device.CPU;
  }

  @Override
  public final HostTensor slice(long offset, long count) {
    checkRange(offset, count);
    return view(offset, count, new long[] {count});
  }

  @Override
  public final HostTensor reshape(long... shape) {
    if (Shapes.count(shape) != count) {
      throw new IllegalArgumentException(
          this + " has " + grouped(count) + " elements and cannot be reshaped to " + text(shape));
    }
    return view(0, count, shape.clone());
  }

  @Override
  public final void copyTo(Object primitiveArray) {
    checkArray(primitiveArray, "copied to");
    toArray(0, (int) count, primitiveArray, 0);
  }

  @Override
  public final void copyFrom(Object primitiveArray) {
    checkArray(primitiveArray, "copied from");
    fromArray(0, (int) count, primitiveArray, 0);
  }

  @Override
  public final void copyFrom(Tensor other) {
    TensorView source = TensorView.of(other);
    if (source.dtype() != dtype || source.count() != count) {
      throw new IllegalArgumentException(
          this + " cannot be copied from " + source + ": types and counts must be equal");
    }
    source.copyTo(this);
  }

  @Override
  public final void copyTo(HostTensor destination) {
    destination.copyFrom(0, this, 0, count);
  }

  /**
   * Copies {@code count} elements from {@code offset} on to {@code destination}, whose position
   * advances.
   *
   * @param destination direct, in native byte order, at any position
   */
  public abstract void read(long offset, int count, ByteBuffer destination);

  /**
   * Copies {@code count} elements from {@code source}, whose position advances, to {@code offset}
   * on.
   *
   * @param source direct, in native byte order, at any position
   */
  public abstract void write(long offset, int count, ByteBuffer source);

  /**
   * Copies {@code count} elements from {@code offset} on into an array.
   *
   * @param array of the type {@link ArrayType#of(DType)}, or {@code boolean[]} for booleans
   * @param index the slot of the array that the first element goes to
   */
  public abstract void toArray(long offset, int count, Object array, int index);

  /**
   * Copies {@code count} elements of an array to {@code offset} on.
   *
   * @param array of the type {@link ArrayType#of(DType)}, or {@code boolean[]} for booleans
   * @param index the slot of the array that the first element comes from
   */
  public abstract void fromArray(long offset, int count, Object array, int index);

  /**
   * Copies {@code count} elements of {@code source} to {@code offset} on; the types are equal. The
   * ranges may overlap.
   */
  public abstract void copyFrom(long offset, HostTensor source, long sourceOffset, long count);

  /** Returns a view of a range that was checked. */
  abstract HostTensor view(long offset, long count, long[] shape);

  /**
   * Refuses a range that is not within the tensor.
   *
   * @throws IllegalArgumentException naming the range and the tensor
   */
  public final void checkRange(long offset, long length) {
    if (offset < 0 || length < 0 || offset > count - length) {
      throw new IllegalArgumentException(
          "The range of "
              + grouped(length)
              + " elements from "
              + grouped(offset)
              + " on is not within the "
              + grouped(count)
              + " elements of "
              + this);
    }
  }

  /** Checks a copy of {@code length} elements to or from what remains of a buffer. */
  final void checkMove(long offset, int length, ByteBuffer buffer) {
    checkRange(offset, length);
    long bytes = (long) length * dtype.bytes();
    if (bytes > buffer.remaining()) {
      throw new IllegalArgumentException(
          describe(dtype, length)
              + " takes "
              + grouped(bytes)
              + " bytes, but "
              + grouped(buffer.remaining())
              + " remain in the buffer");
    }
  }

  final void checkCopy(long offset, HostTensor source, long sourceOffset, long length) {
    if (source.dtype != dtype) {
      throw new IllegalArgumentException(
          this + " cannot be copied from " + source + ": the types differ");
    }
    checkRange(offset, length);
    source.checkRange(sourceOffset, length);
  }

  private void checkArray(Object array, String verb) {
    ArrayType type = ArrayType.of(dtype, array);
    long slots = count * ArrayType.slots(dtype);
    if (type.length(array) != slots) {
      throw new IllegalArgumentException(
          this
              + " cannot be "
              + verb
              + " a "
              + type
              + " of length "
              + grouped(type.length(array))
              + ": it takes "
              + grouped(slots));
    }
  }

  /** Returns a type and a count for messages, such as {@code float32 x 4,194,304}. */
  static String describe(DType dtype, long count) {
    return dtype.label() + " x " + grouped(count);
  }

  static String grouped(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  private static String text(long[] shape) {
    return Arrays.toString(shape);
  }

  /** Returns the type and the shape, such as {@code float32[2, 3]}. */
  @Override
  public final String toString() {
    return dtype.label() + text(shape);
  }
}
