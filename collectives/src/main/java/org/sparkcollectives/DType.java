package org.sparkcollectives;

import java.util.Locale;

/** The type of a tensor's elements, in the native byte order of the machine. */
public enum DType {
  /** A truth value in one byte: 0 is false, all else is true; results are 0 or 1. */
  BOOL(1, Kind.BOOLEAN),
  /** An unsigned 8-bit integer. */
  UINT8(1, Kind.INTEGER),
  /** A signed 8-bit integer. */
  INT8(1, Kind.INTEGER),
  /** A signed 16-bit integer. */
  INT16(2, Kind.INTEGER),
  /** A signed 32-bit integer. */
  INT32(4, Kind.INTEGER),
  /** A signed 64-bit integer. */
  INT64(8, Kind.INTEGER),
  /** An IEEE 754 half-precision number. */
  FLOAT16(2, Kind.FLOATING),
  /** The upper half of a single-precision number. */
  BFLOAT16(2, Kind.FLOATING),
  /** An IEEE 754 single-precision number. */
  FLOAT32(4, Kind.FLOATING),
  /** An IEEE 754 double-precision number. */
  FLOAT64(8, Kind.FLOATING),
  /** Two {@link #FLOAT32}: real part, imaginary part. */
  COMPLEX64(8, Kind.COMPLEX),
  /** Two {@link #FLOAT64}: real part, imaginary part. */
  COMPLEX128(16, Kind.COMPLEX),
  /** An 8-bit number with 4 bits of exponent; moved, never reduced. */
  FLOAT8_E4M3(1, Kind.OPAQUE),
  /** An 8-bit number with 5 bits of exponent; moved, never reduced. */
  FLOAT8_E5M2(1, Kind.OPAQUE);

  private enum Kind {
    BOOLEAN,
    INTEGER,
    FLOATING,
    COMPLEX,
    OPAQUE
  }

  private final int bytes;
  private final Kind kind;
  private final String label;

  DType(int bytes, Kind kind) {
    this.bytes = bytes;
    this.kind = kind;
    this.label = name().toLowerCase(Locale.ROOT);
  }

  /** Returns the size of one element in bytes. */
  public int bytes() {
    return bytes;
  }

  /** Returns whether this is one of the signed and unsigned integers. */
  public boolean isInteger() {
    return kind == Kind.INTEGER;
  }

  /** Returns whether this is one of the real floating-point types that can be reduced. */
  public boolean isFloatingPoint() {
    return kind == Kind.FLOATING;
  }

  /** Returns whether this is one of the complex types. */
  public boolean isComplex() {
    return kind == Kind.COMPLEX;
  }

  /** Returns the name in lower case, as messages and records show it. */
  public String label() {
    return label;
  }
}
