package org.sparkcollectives.spi.tensor;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

/**
 * Tensors over the memory of {@code java.nio} buffers, from their position to their limit at the
 * time of the call. They are never copies, so an operation writes into the buffer. Position and
 * limit stay as they are. The tensors have one dimension.
 *
 * <p>A direct buffer of another type than bytes does not expose its memory: wrap the {@link
 * ByteBuffer} that it is a view of, with {@link Tensor#wrap(DType, ByteBuffer)}.
 */
public final class BufferTensors {

  private BufferTensors() {}

  /**
   * Returns a {@link DType#FLOAT32} tensor.
   *
   * @throws IllegalArgumentException if the buffer is direct or read-only
   */
  public static Tensor of(FloatBuffer buffer) {
    return slice(DType.FLOAT32, buffer);
  }

  /**
   * Returns a {@link DType#FLOAT64} tensor.
   *
   * @throws IllegalArgumentException if the buffer is direct or read-only
   */
  public static Tensor of(DoubleBuffer buffer) {
    return slice(DType.FLOAT64, buffer);
  }

  /**
   * Returns an {@link DType#INT16} tensor.
   *
   * @throws IllegalArgumentException if the buffer is direct or read-only
   */
  public static Tensor of(ShortBuffer buffer) {
    return slice(DType.INT16, buffer);
  }

  /**
   * Returns an {@link DType#INT32} tensor.
   *
   * @throws IllegalArgumentException if the buffer is direct or read-only
   */
  public static Tensor of(IntBuffer buffer) {
    return slice(DType.INT32, buffer);
  }

  /**
   * Returns an {@link DType#INT64} tensor.
   *
   * @throws IllegalArgumentException if the buffer is direct or read-only
   */
  public static Tensor of(LongBuffer buffer) {
    return slice(DType.INT64, buffer);
  }

  /**
   * Returns an {@link DType#INT8} tensor over a heap or direct buffer.
   *
   * @throws IllegalArgumentException if the buffer is read-only
   */
  public static Tensor of(ByteBuffer buffer) {
    return buffer.isDirect()
        ? Tensor.wrap(DType.INT8, buffer.duplicate().order(ByteOrder.nativeOrder()))
        : slice(DType.INT8, buffer);
  }

  private static Tensor slice(DType dtype, Buffer buffer) {
    if (!buffer.hasArray()) {
      throw new IllegalArgumentException(
          buffer.isDirect()
              ? "A direct "
                  + dtype.label()
                  + " buffer does not show its memory; wrap the ByteBuffer that it is a view of, with"
                  + " Tensor.wrap(DType, ByteBuffer)"
              : "A tensor must not lie in a read-only buffer, or in a view of a ByteBuffer on the"
                  + " heap: "
                  + buffer);
    }
    return Tensor.wrap(dtype, buffer.array())
        .slice((long) buffer.arrayOffset() + buffer.position(), buffer.remaining());
  }
}
