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

/**
 * The primitive arrays that hold elements on the heap, and their bulk copies to and from buffers. A
 * slot is one entry of an array; a complex element takes two.
 */
public enum ArrayType {
  /** {@code boolean[]}, which buffers hold as bytes 0 and 1; any other byte is read as true. */
  BOOLEAN(boolean[].class, 1) {
    @Override
    Object allocate(int length) {
      return new boolean[length];
    }

    @Override
    int length(Object array) {
      return ((boolean[]) array).length;
    }

    @Override
    Buffer typed(ByteBuffer bytes) {
      return bytes.slice();
    }

    @Override
    public void get(Buffer view, int from, Object array, int index, int length) {
      byte[] tile = (byte[]) TilePool.borrow(BYTE);
      try {
        TruthValues.get((ByteBuffer) view, from, (boolean[]) array, index, length, tile);
      } finally {
        TilePool.giveBack(BYTE, tile);
      }
    }

    @Override
    public void put(Buffer view, int from, Object array, int index, int length) {
      byte[] tile = (byte[]) TilePool.borrow(BYTE);
      try {
        TruthValues.put((ByteBuffer) view, from, (boolean[]) array, index, length, tile);
      } finally {
        TilePool.giveBack(BYTE, tile);
      }
    }
  },

  /** {@code byte[]}. */
  BYTE(byte[].class, Byte.BYTES) {
    @Override
    Object allocate(int length) {
      return new byte[length];
    }

    @Override
    int length(Object array) {
      return ((byte[]) array).length;
    }

    @Override
    Buffer typed(ByteBuffer bytes) {
      return bytes.slice();
    }

    @Override
    public void get(Buffer view, int from, Object array, int index, int length) {
      ((ByteBuffer) view).get(from, (byte[]) array, index, length);
    }

    @Override
    public void put(Buffer view, int from, Object array, int index, int length) {
      ((ByteBuffer) view).put(from, (byte[]) array, index, length);
    }
  },

  /** {@code short[]}. */
  SHORT(short[].class, Short.BYTES) {
    @Override
    Object allocate(int length) {
      return new short[length];
    }

    @Override
    int length(Object array) {
      return ((short[]) array).length;
    }

    @Override
    Buffer typed(ByteBuffer bytes) {
      return bytes.asShortBuffer();
    }

    @Override
    public void get(Buffer view, int from, Object array, int index, int length) {
      ((ShortBuffer) view).get(from, (short[]) array, index, length);
    }

    @Override
    public void put(Buffer view, int from, Object array, int index, int length) {
      ((ShortBuffer) view).put(from, (short[]) array, index, length);
    }
  },

  /** {@code int[]}. */
  INT(int[].class, Integer.BYTES) {
    @Override
    Object allocate(int length) {
      return new int[length];
    }

    @Override
    int length(Object array) {
      return ((int[]) array).length;
    }

    @Override
    Buffer typed(ByteBuffer bytes) {
      return bytes.asIntBuffer();
    }

    @Override
    public void get(Buffer view, int from, Object array, int index, int length) {
      ((IntBuffer) view).get(from, (int[]) array, index, length);
    }

    @Override
    public void put(Buffer view, int from, Object array, int index, int length) {
      ((IntBuffer) view).put(from, (int[]) array, index, length);
    }
  },

  /** {@code long[]}. */
  LONG(long[].class, Long.BYTES) {
    @Override
    Object allocate(int length) {
      return new long[length];
    }

    @Override
    int length(Object array) {
      return ((long[]) array).length;
    }

    @Override
    Buffer typed(ByteBuffer bytes) {
      return bytes.asLongBuffer();
    }

    @Override
    public void get(Buffer view, int from, Object array, int index, int length) {
      ((LongBuffer) view).get(from, (long[]) array, index, length);
    }

    @Override
    public void put(Buffer view, int from, Object array, int index, int length) {
      ((LongBuffer) view).put(from, (long[]) array, index, length);
    }
  },

  /** {@code float[]}. */
  FLOAT(float[].class, Float.BYTES) {
    @Override
    Object allocate(int length) {
      return new float[length];
    }

    @Override
    int length(Object array) {
      return ((float[]) array).length;
    }

    @Override
    Buffer typed(ByteBuffer bytes) {
      return bytes.asFloatBuffer();
    }

    @Override
    public void get(Buffer view, int from, Object array, int index, int length) {
      ((FloatBuffer) view).get(from, (float[]) array, index, length);
    }

    @Override
    public void put(Buffer view, int from, Object array, int index, int length) {
      ((FloatBuffer) view).put(from, (float[]) array, index, length);
    }
  },

  /** {@code double[]}. */
  DOUBLE(double[].class, Double.BYTES) {
    @Override
    Object allocate(int length) {
      return new double[length];
    }

    @Override
    int length(Object array) {
      return ((double[]) array).length;
    }

    @Override
    Buffer typed(ByteBuffer bytes) {
      return bytes.asDoubleBuffer();
    }

    @Override
    public void get(Buffer view, int from, Object array, int index, int length) {
      ((DoubleBuffer) view).get(from, (double[]) array, index, length);
    }

    @Override
    public void put(Buffer view, int from, Object array, int index, int length) {
      ((DoubleBuffer) view).put(from, (double[]) array, index, length);
    }
  };

  private static final ArrayType[] ALL = values();

  private final Class<?> arrayClass;
  private final int slotBytes;

  ArrayType(Class<?> arrayClass, int slotBytes) {
    this.arrayClass = arrayClass;
    this.slotBytes = slotBytes;
  }

  abstract Object allocate(int length);

  abstract int length(Object array);

  abstract Buffer typed(ByteBuffer bytes);

  /** Copies slots of a {@link #view}, from the slot {@code from} on, into an array of this type. */
  public abstract void get(Buffer view, int from, Object array, int index, int length);

  /** Copies slots of an array of this type into a {@link #view}, from the slot {@code from} on. */
  public abstract void put(Buffer view, int from, Object array, int index, int length);

  /**
   * Returns the bytes of a buffer between its position and its limit as slots of this type. The
   * position may be any, aligned or not.
   *
   * @throws IllegalArgumentException if the buffer is not in native byte order, which {@code slice}
   *     and {@code duplicate} silently reset
   */
  public Buffer view(ByteBuffer bytes) {
    if (bytes.order() != ByteOrder.nativeOrder()) {
      throw new IllegalArgumentException(
          "The buffer is in "
              + bytes.order()
              + " order; elements are kept in the machine's own, "
              + ByteOrder.nativeOrder());
    }
    return typed(bytes);
  }

  /** Returns the size of one slot in bytes. */
  int slotBytes() {
    return slotBytes;
  }

  /** Returns the type in which the elements of {@code dtype} are computed; bytes for booleans. */
  public static ArrayType of(DType dtype) {
    return switch (dtype) {
      case BOOL, UINT8, INT8, FLOAT8_E4M3, FLOAT8_E5M2 -> BYTE;
      case INT16, FLOAT16, BFLOAT16 -> SHORT;
      case INT32 -> INT;
      case INT64 -> LONG;
      case FLOAT32, COMPLEX64 -> FLOAT;
      case FLOAT64, COMPLEX128 -> DOUBLE;
    };
  }

  /** Returns how many slots one element of {@code dtype} takes. */
  public static int slots(DType dtype) {
    return dtype.isComplex() ? 2 : 1;
  }

  /**
   * Returns the type of an array that is to hold elements of {@code dtype}.
   *
   * @throws IllegalArgumentException if it cannot hold them
   */
  static ArrayType of(DType dtype, Object array) {
    if (dtype == null) {
      throw new IllegalArgumentException("The type of the elements is null");
    }
    if (array != null) {
      for (ArrayType type : ALL) {
        if (type.arrayClass == array.getClass() && type.holds(dtype)) {
          return type;
        }
      }
    }
    throw new IllegalArgumentException(
        "A tensor of "
            + dtype.label()
            + " lies in a "
            + (dtype == DType.BOOL ? "boolean[] or byte[]" : of(dtype))
            + ", not in "
            + (array == null ? "null" : array.getClass().getCanonicalName()));
  }

  private boolean holds(DType dtype) {
    return this == of(dtype) || (this == BOOLEAN && dtype == DType.BOOL);
  }

  @Override
  public String toString() {
    return arrayClass.getSimpleName();
  }
}
