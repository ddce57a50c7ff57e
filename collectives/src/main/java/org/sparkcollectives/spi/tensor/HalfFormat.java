package org.sparkcollectives.spi.tensor;

import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;

/**
 * The two 16-bit floating-point formats, and conversions of whole tiles, which are quicker than
 * those of {@link Float16} and {@link BFloat16} one by one. They give the same bits, except that a
 * signalling NaN may become a quiet one when it is widened. Thread-safe; nothing blocks.
 */
public enum HalfFormat {
  /** IEEE 754's: 5 exponent and 10 fraction bits. */
  FLOAT16(DType.FLOAT16, 0x7c00) {
    @Override
    public boolean hasInstructions() {
      return Float16Instructions.EXIST;
    }

    @Override
    public void widen(short[] halves, float[] floats, int index, int length) {
      if (Float16Instructions.EXIST) {
        Float16Instructions.widen(halves, floats, index, length);
        return;
      }
      for (int i = 0; i < length; i++) {
        floats[index + i] = Float16.toFloat(halves[i]);
      }
    }

    @Override
    public void narrow(float[] floats, int index, short[] halves, int length) {
      if (Float16Instructions.EXIST) {
        Float16Instructions.narrow(floats, index, halves, length);
      } else {
        HalfRounding.toFloat16(floats, index, halves, length);
      }
    }
  },

  /** The upper half of a float32. */
  BFLOAT16(DType.BFLOAT16, 0x7f80) {
    @Override
    public boolean hasInstructions() {
      return false;
    }

    @Override
    public void widen(short[] halves, float[] floats, int index, int length) {
      for (int i = 0; i < length; i++) {
        floats[index + i] = BFloat16.toFloat(halves[i]);
      }
    }

    @Override
    public void narrow(float[] floats, int index, short[] halves, int length) {
      HalfRounding.toBFloat16(floats, index, halves, length);
    }
  };

  private final DType dtype;
  private final int infinity;

  HalfFormat(DType dtype, int infinity) {
    this.dtype = dtype;
    this.infinity = infinity;
  }

  /**
   * Returns the format of a type.
   *
   * @throws IllegalArgumentException if it is neither {@link DType#FLOAT16} nor {@link
   *     DType#BFLOAT16}
   */
  public static HalfFormat of(DType dtype) {
    return switch (dtype) {
      case FLOAT16 -> FLOAT16;
      case BFLOAT16 -> BFLOAT16;
      default -> throw new IllegalArgumentException("No half type: " + dtype.label());
    };
  }

  /** Returns the type of its numbers. */
  public DType dtype() {
    return dtype;
  }

  /** Returns the bits of positive infinity. Larger bits, without the sign, are NaNs. */
  public int infinity() {
    return infinity;
  }

  /** Returns whether the JVM seems to convert this format by instructions of the processor. */
  public abstract boolean hasInstructions();

  /** Converts the first {@code length} halves exactly, to the floats from {@code index} on. */
  public abstract void widen(short[] halves, float[] floats, int index, int length);

  /**
   * Rounds the floats from {@code index} on to the first {@code length} halves: to nearest, ties to
   * even.
   *
   * @param length at most {@link TilePool#LENGTH}
   */
  public abstract void narrow(float[] floats, int index, short[] halves, int length);

  /**
   * Rounds floats to numbers that a half can hold.
   *
   * @param length at most {@link TilePool#LENGTH}
   */
  public void round(float[] floats, int length) {
    short[] halves = (short[]) TilePool.borrow(ArrayType.SHORT);
    narrow(floats, 0, halves, length);
    widen(halves, floats, 0, length);
    TilePool.giveBack(ArrayType.SHORT, halves);
  }
}
