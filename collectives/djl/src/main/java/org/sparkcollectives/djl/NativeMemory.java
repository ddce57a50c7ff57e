package org.sparkcollectives.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

/** Gives the engine's own memory of an array as a tensor, without a copy. */
final class NativeMemory {

  private NativeMemory() {}

  /**
   * Returns the memory of an array, or nothing if the engine gives copies only: of an array whose
   * elements do not lie one after the other, or of a gradient that no backward pass has made yet.
   *
   * @param what names the array in messages
   * @param array gives the array, each time as a new object
   * @throws IllegalArgumentException if the array is on another device, of a type that gradients
   *     cannot have, or larger than a buffer
   */
  static Optional<Tensor> of(String what, Supplier<NDArray> array) {
    NDArray first = array.get();
    DType dtype = dtype(what, first);
    requireCpu(what, first);
    long[] shape = first.getShape().getShape();
    long bytes = Math.multiplyExact(first.size(), dtype.bytes());
    if (bytes == 0) {
      return Optional.of(Tensor.allocate(dtype, shape));
    }
    if (bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "%s has %,d bytes, and DJL gives the memory of at most %,d; divide the layer",
              what,
              bytes,
              Integer.MAX_VALUE));
    }
    ByteBuffer memory = first.toByteBuffer(true);
    return memory.isDirect() && same(memory, array.get().toByteBuffer(true))
        ? Optional.of(Tensor.wrap(dtype, memory).reshape(shape))
        : Optional.empty();
  }

  private static void requireCpu(String what, NDArray array) {
    if (!array.getDevice().getDeviceType().equals("cpu")) {
      throw new IllegalArgumentException(
          what + " is on " + array.getDevice() + "; train on the CPU, Device.cpu()");
    }
  }

  /**
   * Returns whether two buffers are one memory: what is written into one is read from the other.
   */
  private static boolean same(ByteBuffer one, ByteBuffer two) {
    byte before = one.get(0);
    byte changed = (byte) ~before;
    one.put(0, changed);
    boolean seen = two.get(0) == changed;
    one.put(0, before);
    return seen && two.get(0) == before;
  }

  /**
   * Returns the type of an array's elements.
   *
   * @throws IllegalArgumentException if gradients cannot be of this type
   */
  static DType dtype(String what, NDArray array) {
    DataType type = array.getDataType();
    return switch (type) {
      case FLOAT16 -> DType.FLOAT16;
      case BFLOAT16 -> DType.BFLOAT16;
      case FLOAT32 -> DType.FLOAT32;
      case FLOAT64 -> DType.FLOAT64;
      default ->
          throw new IllegalArgumentException(
              what
                  + " has elements of the type "
                  + type
                  + ", and a trained one has float32,"
                  + " float64, float16 or bfloat16");
    };
  }
}
