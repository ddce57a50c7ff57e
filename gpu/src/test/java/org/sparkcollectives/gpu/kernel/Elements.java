package org.sparkcollectives.gpu.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Elements of any type as doubles or as bits, for tests of kernels. */
final class Elements {

  private static final double[] SPECIAL = {
    Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0.0, -0.0, 1e-40, -1e-40, 65504
  };

  private Elements() {}

  /** Returns random elements, including values that arithmetic often gets wrong. */
  static HostTensor random(DType dtype, int count, Random random) {
    ByteBuffer bytes =
        ByteBuffer.allocateDirect(count * dtype.bytes()).order(ByteOrder.nativeOrder());
    if (dtype.isInteger() || dtype == DType.BOOL) {
      for (int i = 0; i < bytes.capacity(); i++) {
        bytes.put(i, (byte) (dtype == DType.BOOL ? random.nextInt(3) : random.nextInt()));
      }
    } else {
      DType part = part(dtype);
      for (int i = 0; i < bytes.capacity() / part.bytes(); i++) {
        boolean special = random.nextInt(16) == 0;
        put(
            part,
            bytes,
            i,
            special ? SPECIAL[random.nextInt(SPECIAL.length)] : random.nextGaussian() * 8);
      }
    }
    return HostTensor.wrap(dtype, bytes);
  }

  /** Returns the type of the parts of a complex type, or else the type. */
  static DType part(DType dtype) {
    return switch (dtype) {
      case COMPLEX64 -> DType.FLOAT32;
      case COMPLEX128 -> DType.FLOAT64;
      default -> dtype;
    };
  }

  static void put(DType dtype, ByteBuffer bytes, int index, double value) {
    switch (dtype) {
      case FLOAT16 -> bytes.putShort(index * 2, Float16.fromFloat((float) value));
      case BFLOAT16 -> bytes.putShort(index * 2, BFloat16.fromFloat((float) value));
      case FLOAT32 -> bytes.putFloat(index * 4, (float) value);
      case FLOAT64 -> bytes.putDouble(index * 8, value);
      default -> throw new IllegalArgumentException(dtype.label());
    }
  }

  /** Returns the bits of each element or part; all NaNs have the same bits. */
  static long[] bits(HostTensor tensor) {
    ByteBuffer bytes = ByteBuffer.allocate((int) tensor.byteSize()).order(ByteOrder.nativeOrder());
    tensor.read(0, (int) tensor.count(), bytes);
    DType part = part(tensor.dtype());
    long[] bits = new long[(int) tensor.byteSize() / part.bytes()];
    for (int i = 0; i < bits.length; i++) {
      bits[i] =
          switch (part) {
            case FLOAT16 -> Float.floatToIntBits(Float16.toFloat(bytes.getShort(i * 2)));
            case BFLOAT16 -> Float.floatToIntBits(BFloat16.toFloat(bytes.getShort(i * 2)));
            case FLOAT32 -> Float.floatToIntBits(bytes.getFloat(i * 4));
            case FLOAT64 -> Double.doubleToLongBits(bytes.getDouble(i * 8));
            case INT64 -> bytes.getLong(i * 8);
            case INT32 -> bytes.getInt(i * 4);
            case INT16 -> bytes.getShort(i * 2);
            default -> bytes.get(i);
          };
    }
    return bits;
  }
}
