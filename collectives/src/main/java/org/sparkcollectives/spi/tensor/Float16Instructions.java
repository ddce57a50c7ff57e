package org.sparkcollectives.spi.tensor;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Conversions by {@code Float.float16ToFloat} and {@code Float.floatToFloat16} of Java 20. HotSpot
 * compiles these to an instruction where the processor has one, and vectorizes the loops. The
 * methods are found by name, as this class is compiled for Java 17; HotSpot inlines constant
 * handles.
 */
final class Float16Instructions {

  private static final MethodHandle TO_FLOAT = find("float16ToFloat", float.class, short.class);
  private static final MethodHandle TO_HALF = find("floatToFloat16", short.class, float.class);

  /** Whether the JVM has the methods, and they treat NaNs as the instructions do. */
  static final boolean EXIST = TO_FLOAT != null && TO_HALF != null && quietsNans();

  private Float16Instructions() {}

  private static MethodHandle find(String name, Class<?> to, Class<?> from) {
    try {
      return MethodHandles.publicLookup()
          .findStatic(Float.class, name, MethodType.methodType(to, from));
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  /** Without instructions, Java code would also fold the lower bits of the payload into a half. */
  private static boolean quietsNans() {
    float[] nan = {Float.intBitsToFloat(0x7f800001)};
    short[] half = new short[1];
    narrow(nan, 0, half, 1);
    return half[0] == 0x7e00;
  }

  static void widen(short[] halves, float[] floats, int index, int length) {
    try {
      for (int i = 0; i < length; i++) {
        floats[index + i] = (float) TO_FLOAT.invokeExact(halves[i]);
      }
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static void narrow(float[] floats, int index, short[] halves, int length) {
    try {
      for (int i = 0; i < length; i++) {
        halves[i] = (short) TO_HALF.invokeExact(floats[index + i]);
      }
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Only indices beyond the arrays can make a loop fail. */
  private static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException exception ? exception : new IllegalStateException(e);
  }
}
