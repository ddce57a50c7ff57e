package org.sparkcollectives.tensor;

import java.nio.ByteBuffer;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.Tensor;

/**
 * A tensor in the memory of the JVM's process: a heap array or a direct buffer.
 *
 * <p>What transports and kernels know of memory is here: elements are moved in bulk between a
 * tensor and direct buffers in native byte order. Positions and counts are in elements.
 */
public abstract sealed class HostTensor implements Tensor permits HeapTensor, DirectTensor {

  /** See {@link Tensor#wrap(DType, Object)}. */
  public static HostTensor wrap(DType dtype, Object primitiveArray) {
    return HeapTensor.over(dtype, primitiveArray);
  }

  /** See {@link Tensor#wrap(DType, ByteBuffer)}. */
  public static HostTensor wrap(DType dtype, ByteBuffer direct) {
    return DirectTensor.over(dtype, direct);
  }

  /** See {@link Tensor#allocate(DType, long)}. */
  public static HostTensor allocate(DType dtype, long count) {
    return HeapTensor.allocate(dtype, count);
  }

  /**
   * The tensor as host memory.
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
            : "Only tensors made by Tensor.of, wrap or allocate can be used here, not a "
                + tensor.getClass().getName());
  }

  @Override
  public final Device device() {
    return Device.CPU;
  }

  @Override
  public abstract HostTensor slice(long offset, long count);

  @Override
  public abstract HostTensor reshape(long... shape);

  /**
   * Copies {@code count} elements from {@code offset} on to {@code destination}, which advances.
   *
   * @param destination direct, in native byte order
   */
  public abstract void read(long offset, int count, ByteBuffer destination);

  /**
   * Copies {@code count} elements from {@code source}, which advances, to {@code offset} on.
   *
   * @param source direct, in native byte order
   */
  public abstract void write(long offset, int count, ByteBuffer source);

  /** Copies {@code count} elements of {@code source} to {@code offset} on; the types are equal. */
  public abstract void copyFrom(long offset, HostTensor source, long sourceOffset, long count);
}
