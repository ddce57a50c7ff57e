package org.sparkcollectives.spi.tensor;

import org.sparkcollectives.DType;

/**
 * Finds NaNs in a tensor, as c10d's NaN check does. An infinity is allowed. A complex number is a
 * NaN if one of its parts is.
 */
public final class NanCheck {

  private static final int TILE = 1024;

  /**
   * The bits of infinity, without the sign. Larger values are the NaNs of a format; a format
   * without infinity has its largest number here.
   */
  private static final int FLOAT16_INFINITY = 0x7c00;

  private static final int BFLOAT16_INFINITY = 0x7f80;
  private static final int FLOAT8_E4M3_LARGEST = 0x7e;
  private static final int FLOAT8_E5M2_INFINITY = 0x7c;

  private NanCheck() {}

  /** Returns the index of the first NaN of a tensor, or -1. */
  public static long first(HostTensor tensor) {
    return switch (tensor.dtype()) {
      case FLOAT32, COMPLEX64 -> scan(tensor, new float[TILE], NanCheck::first);
      case FLOAT64, COMPLEX128 -> scan(tensor, new double[TILE], NanCheck::first);
      case FLOAT16 ->
          scan(tensor, new short[TILE], (tile, length) -> above(tile, length, FLOAT16_INFINITY));
      case BFLOAT16 ->
          scan(tensor, new short[TILE], (tile, length) -> above(tile, length, BFLOAT16_INFINITY));
      case FLOAT8_E4M3 ->
          scan(tensor, new byte[TILE], (tile, length) -> above(tile, length, FLOAT8_E4M3_LARGEST));
      case FLOAT8_E5M2 ->
          scan(tensor, new byte[TILE], (tile, length) -> above(tile, length, FLOAT8_E5M2_INFINITY));
      case BOOL, UINT8, INT8, INT16, INT32, INT64 -> -1;
    };
  }

  /** Finds the index of the first NaN among the first entries of an array, or -1. */
  private interface Scan<A> {
    int first(A tile, int length);
  }

  private static <A> long scan(HostTensor tensor, A tile, Scan<A> scan) {
    DType dtype = tensor.dtype();
    int entries = dtype.isComplex() ? 2 : 1;
    int elements = TILE / entries;
    for (long offset = 0; offset < tensor.count(); offset += elements) {
      int count = (int) Math.min(elements, tensor.count() - offset);
      tensor.toArray(offset, count, tile, 0);
      int found = scan.first(tile, count * entries);
      if (found >= 0) {
        return offset + found / entries;
      }
    }
    return -1;
  }

  private static int first(float[] tile, int length) {
    for (int i = 0; i < length; i++) {
      if (Float.isNaN(tile[i])) {
        return i;
      }
    }
    return -1;
  }

  private static int first(double[] tile, int length) {
    for (int i = 0; i < length; i++) {
      if (Double.isNaN(tile[i])) {
        return i;
      }
    }
    return -1;
  }

  private static int above(short[] tile, int length, int limit) {
    for (int i = 0; i < length; i++) {
      if ((tile[i] & 0x7fff) > limit) {
        return i;
      }
    }
    return -1;
  }

  private static int above(byte[] tile, int length, int limit) {
    for (int i = 0; i < length; i++) {
      if ((tile[i] & 0x7f) > limit) {
        return i;
      }
    }
    return -1;
  }
}
