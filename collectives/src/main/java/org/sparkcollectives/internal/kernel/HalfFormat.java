package org.sparkcollectives.internal.kernel;

import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;

/** The two 16-bit floating-point formats, tile by tile. */
enum HalfFormat {
  FLOAT16(0x7c00) {
    @Override
    void widen(short[] halves, float[] floats, int length) {
      for (int i = 0; i < length; i++) {
        floats[i] = Float16.toFloat(halves[i]);
      }
    }

    @Override
    void narrow(float[] floats, short[] halves, int length) {
      for (int i = 0; i < length; i++) {
        halves[i] = Float16.fromFloat(floats[i]);
      }
    }
  },

  BFLOAT16(0x7f80) {
    @Override
    void widen(short[] halves, float[] floats, int length) {
      for (int i = 0; i < length; i++) {
        floats[i] = BFloat16.toFloat(halves[i]);
      }
    }

    @Override
    void narrow(float[] floats, short[] halves, int length) {
      for (int i = 0; i < length; i++) {
        halves[i] = BFloat16.fromFloat(floats[i]);
      }
    }
  };

  private final int infinity;

  HalfFormat(int infinity) {
    this.infinity = infinity;
  }

  /** Returns the bits of infinity, above which without a sign are those of NaNs. */
  int infinity() {
    return infinity;
  }

  /** Converts the first {@code length} slots exactly. */
  abstract void widen(short[] halves, float[] floats, int length);

  /** Rounds the first {@code length} slots to nearest, ties to even. */
  abstract void narrow(float[] floats, short[] halves, int length);

  DType dtype() {
    return this == FLOAT16 ? DType.FLOAT16 : DType.BFLOAT16;
  }
}
