package org.sparkcollectives.spi.tensor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkcollectives.DType;

/** The kinds of memory of a tensor whose elements are given as bytes. */
public enum TensorMemory {
  /** A heap array of its own. */
  HEAP,
  /** A range of a larger heap array, from the third element on. */
  HEAP_SLICE,
  /** A {@code byte[]}, even for booleans. */
  HEAP_BYTES,
  /** A direct buffer of its own. */
  DIRECT,
  /** A range of a larger direct buffer, from the third element on. */
  DIRECT_SLICE,
  /** A direct buffer at an odd address. */
  DIRECT_UNALIGNED;

  private static final int MARGIN = 3;

  /** Returns a tensor with these elements. */
  public HostTensor tensor(DType dtype, ByteBuffer elements) {
    int count = elements.remaining() / dtype.bytes();
    HostTensor tensor = allocate(dtype, count);
    tensor.write(0, count, elements.duplicate().order(ByteOrder.nativeOrder()));
    return tensor;
  }

  /** Returns a tensor of zeros. */
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

  /** Returns the elements of a tensor as bytes. */
  public static ByteBuffer elements(HostTensor tensor) {
    ByteBuffer bytes = direct((int) tensor.byteSize());
    tensor.read(0, (int) tensor.count(), bytes);
    return bytes.flip();
  }

  /** Returns a direct buffer in native order. */
  public static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }
}
