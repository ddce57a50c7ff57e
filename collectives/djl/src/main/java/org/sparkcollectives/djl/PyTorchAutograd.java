package org.sparkcollectives.djl;

import static java.lang.invoke.MethodType.methodType;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/**
 * Calls the automatic differentiation of DJL's engine for PyTorch past its gradient collector, of
 * which a JVM has one.
 *
 * <p>The methods are found by their names, so that this module needs DJL's API alone.
 */
final class PyTorchAutograd {

  private static final String JNI = "ai.djl.pytorch.jni.JniUtils";
  private static final String ARRAY = "ai.djl.pytorch.engine.PtNDArray";

  private static final ClassValue<PyTorchAutograd> OF_ENGINE =
      new ClassValue<>() {
        @Override
        protected PyTorchAutograd computeValue(Class<?> engine) {
          return new PyTorchAutograd(engine);
        }
      };

  private final MethodHandle isOn;
  private final MethodHandle turn;
  private final MethodHandle backward;
  private final MethodHandle zero;

  private PyTorchAutograd(Class<?> engine) {
    try {
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      Class<?> jni = Class.forName(JNI, true, engine.getClassLoader());
      Class<?> array = Class.forName(ARRAY, true, engine.getClassLoader());
      isOn = lookup.findStatic(jni, "isGradMode", methodType(boolean.class));
      turn = lookup.findStatic(jni, "setGradMode", methodType(void.class, boolean.class));
      backward =
          lookup
              .findStatic(
                  jni,
                  "backward",
                  methodType(void.class, array, array, boolean.class, boolean.class))
              .asType(
                  methodType(
                      void.class, NDArray.class, NDArray.class, boolean.class, boolean.class));
      zero =
          lookup
              .findStatic(jni, "zeroGrad", methodType(void.class, array))
              .asType(methodType(void.class, NDArray.class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "DJL's engine for PyTorch lacks a method that its version 0.35.1 has; use that version",
          e);
    }
  }

  /**
   * Returns the calls for an engine.
   *
   * @throws IllegalArgumentException if the engine is not that for PyTorch
   */
  static PyTorchAutograd of(Engine engine) {
    if (!"PyTorch".equals(engine.getEngineName())) {
      throw new IllegalArgumentException(
          "Gradients of one thread alone need DJL's engine PyTorch, and the block is of the engine "
              + engine.getEngineName());
    }
    return OF_ENGINE.get(engine.getClass());
  }

  /** Returns whether operations of this thread are recorded for a backward pass. */
  boolean isOn() {
    try {
      return (boolean) isOn.invokeExact();
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** Decides whether operations of this thread are recorded. */
  void turn(boolean on) {
    try {
      turn.invokeExact(on);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** Adds the gradients of the sum of {@code target} to those of all parameters it came from. */
  void backward(NDArray target) {
    try (NDArray ones = target.onesLike()) {
      backward.invokeExact(target, ones, false, false);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** Sets the gradient of a parameter to zero in its memory, whatever it holds. */
  void zero(NDArray parameter) {
    try {
      zero.invokeExact(parameter);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** Gives what the engine threw, which declares no checked exceptions. */
  private static RuntimeException failed(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException runtime ? runtime : new IllegalStateException(e);
  }
}
