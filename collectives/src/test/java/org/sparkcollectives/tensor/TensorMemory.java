package org.sparkcollectives.tensor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkcollectives.DType;

/** The kinds of memory that a tensor of elements given as bytes can lie in. */
public enum TensorMemory {
  /** A heap array of its own. */
  HEAP,
  /** From the third element of a larger heap array on. */
  HEAP_SLICE,
  /** A {@code byte[]} even for truth values. */
  HEAP_BYTES,
  /** A direct buffer of its own. */
  DIRECT,
  /** From the third element of a larger direct buffer on. */
  DIRECT_SLICE,
  /** A direct buffer at an odd address. */
  DIRECT_UNALIGNED;

  private static final int MARGIN = 3;

  /** A tensor with these elements. */
  public HostTensor tensor(DType dtype, ByteBuffer elements) {
    int count = elements.remaining() / dtype.bytes();
    HostTensor tensor = allocate(dtype, count);
    tensor.write(0, count, elements.duplicate().order(ByteOrder.nativeOrder()));
    return tensor;
  }

  /** A tensor of zeros. */
  public HostTensor allocate(DType dtype, int count) {
    return switch (this) {
      case HEAP -> HostTensor.allocate(dtype, count);
      case HEAP_SLICE -> HostTensor.allocate(dtype, count + 2 * MARGIN).slice(MARGIN, count);
      case HEAP_BYTES ->
          dtype == DType.BOOL
              ? HostTensor.wrap(dtype, new byte[count])
              : HostTensor.allocate(dtype, count);
      case DIRECT -> HostTensor.wrap(dtype, direct(count * dtype.bytes()));
      case DIRECT_SLICE ->
          HostTensor.wrap(dtype, direct((count + 2 * MARGIN) * dtype.bytes())).slice(MARGIN, count);
      case DIRECT_UNALIGNED ->
          HostTensor.wrap(dtype, direct(count * dtype.bytes() + 1).position(1));
    };
  }

  /** The elements of a tensor as bytes. */
  public static ByteBuffer elements(HostTensor tensor) {
    ByteBuffer bytes = direct((int) tensor.byteSize());
    tensor.read(0, (int) tensor.count(), bytes);
    return bytes.flip();
  }

  /** A direct buffer in native order. */
  public static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }
}
