package org.sparkcollectives.ddp;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.ArrayType;
import org.sparkcollectives.spi.tensor.HalfFormat;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TilePool;

/**
 * Reads and writes elements of the real floating-point types as float32. What is written is rounded
 * to the nearest, ties to even; what is read from float64 is rounded too.
 */
final class FloatElements {

  /** The most elements that are read or written at once. */
  static final int TILE = TilePool.LENGTH;

  /** Changes the first {@code length} elements of a tile. */
  @FunctionalInterface
  interface TileChange {
    void apply(float[] tile, int length);
  }

  private FloatElements() {}

  /**
   * Returns a tensor as host memory with elements that this class reads.
   *
   * @param use what needs them, for the message
   * @throws IllegalArgumentException if it has other elements, or lies on a device
   */
  static HostTensor of(Tensor tensor, String use) {
    Objects.requireNonNull(tensor, "tensor");
    if (!tensor.dtype().isFloatingPoint()) {
      throw new IllegalArgumentException(
          use
              + " takes gradients of float16, bfloat16, float32 or float64, not of "
              + tensor.dtype().label()
              + ": reduce "
              + tensor
              + " without it");
    }
    return HostTensor.of(tensor);
  }

  /** Returns a tile with any content, to be given back. */
  static float[] borrowTile() {
    return (float[]) TilePool.borrow(ArrayType.FLOAT);
  }

  static void giveBackTile(float[] tile) {
    TilePool.giveBack(ArrayType.FLOAT, tile);
  }

  /** Reads {@code count} elements from {@code offset} on into an array. */
  static void read(HostTensor source, long offset, int count, float[] array, int index) {
    if (source.dtype() == DType.FLOAT32) {
      source.toArray(offset, count, array, index);
      return;
    }
    ArrayType type = ArrayType.of(source.dtype());
    Object tile = TilePool.borrow(type);
    for (int done = 0; done < count; done += TILE) {
      int n = Math.min(TILE, count - done);
      source.toArray(offset + done, n, tile, 0);
      widen(source.dtype(), tile, array, index + done, n);
    }
    TilePool.giveBack(type, tile);
  }

  /**
   * Reads the bits that {@code count} elements have as float32.
   *
   * @param count at most {@link #TILE}
   * @param buffer has room for as many floats, in native byte order; is written over
   */
  static void readBits(HostTensor source, long offset, int count, ByteBuffer buffer, int[] bits) {
    buffer.clear();
    if (source.dtype() == DType.FLOAT32) {
      source.read(offset, count, buffer);
    } else {
      float[] tile = borrowTile();
      read(source, offset, count, tile, 0);
      buffer.asFloatBuffer().put(tile, 0, count);
      giveBackTile(tile);
    }
    buffer.clear();
    buffer.asIntBuffer().get(bits, 0, count);
  }

  /** Writes {@code count} elements of an array to {@code offset} on. */
  static void write(float[] array, int index, HostTensor target, long offset, int count) {
    if (target.dtype() == DType.FLOAT32) {
      target.fromArray(offset, count, array, index);
      return;
    }
    ArrayType type = ArrayType.of(target.dtype());
    Object tile = TilePool.borrow(type);
    for (int done = 0; done < count; done += TILE) {
      int n = Math.min(TILE, count - done);
      narrow(target.dtype(), array, index + done, tile, n);
      target.fromArray(offset + done, n, tile, 0);
    }
    TilePool.giveBack(type, tile);
  }

  /** Copies all elements into a tensor of as many, which may be of another type. */
  static void convert(HostTensor source, HostTensor target) {
    convert(source, target, (tile, length) -> {});
  }

  /** Copies all elements into a tensor of as many, changed on the way; it may be the same. */
  static void convert(HostTensor source, HostTensor target, TileChange change) {
    float[] tile = borrowTile();
    for (long done = 0; done < source.count(); done += TILE) {
      int n = (int) Math.min(TILE, source.count() - done);
      read(source, done, n, tile, 0);
      change.apply(tile, n);
      write(tile, 0, target, done, n);
    }
    giveBackTile(tile);
  }

  /** Rounds the first elements of a tile to what a type can hold. */
  static void round(float[] tile, int length, DType type) {
    if (TensorArithmetic.isHalf(type)) {
      HalfFormat.of(type).round(tile, length);
    }
  }

  /** Divides the first elements of a tile. */
  static void divide(float[] tile, int length, float divisor) {
    for (int i = 0; i < length; i++) {
      tile[i] /= divisor;
    }
  }

  private static void widen(DType from, Object tile, float[] array, int index, int count) {
    switch (from) {
      case FLOAT16, BFLOAT16 -> HalfFormat.of(from).widen((short[]) tile, array, index, count);
      case FLOAT64 -> {
        double[] doubles = (double[]) tile;
        for (int i = 0; i < count; i++) {
          array[index + i] = (float) doubles[i];
        }
      }
      default -> throw new IllegalArgumentException("No float: " + from.label());
    }
  }

  /** Rounds {@code count} elements of an array to the first ones of a tile of another type. */
  static void narrow(DType to, float[] array, int index, Object tile, int count) {
    switch (to) {
      case FLOAT16, BFLOAT16 -> HalfFormat.of(to).narrow(array, index, (short[]) tile, count);
      case FLOAT64 -> {
        double[] doubles = (double[]) tile;
        for (int i = 0; i < count; i++) {
          doubles[i] = array[index + i];
        }
      }
      default -> throw new IllegalArgumentException("No float: " + to.label());
    }
  }
}
