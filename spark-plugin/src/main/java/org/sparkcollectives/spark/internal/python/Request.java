package org.sparkcollectives.spark.internal.python;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;

/**
 * One request of a Python worker, read from front to back. The layout is in the package's Javadoc.
 */
final class Request {

  /** The length of the head of every request. */
  static final int HEAD_BYTES = 36;

  private static final int TENSOR_BYTES = 24;
  private static final int ASYNCHRONOUS = 1;
  private static final int CHOICE = 2;
  private static final int SCRATCH = 4;

  private static final DType[] DTYPES = DType.values();
  private static final ReduceOp[] REDUCTIONS = {
    ReduceOp.SUM,
    ReduceOp.AVG,
    ReduceOp.PRODUCT,
    ReduceOp.MIN,
    ReduceOp.MAX,
    ReduceOp.BAND,
    ReduceOp.BOR,
    ReduceOp.BXOR
  };

  private final ByteBuffer frame;
  private final int call;
  private final int flags;
  private final int reduction;
  private final int group;
  private final int peer;
  private final int tag;
  private final long timeoutMillis;
  private final double factor;
  private final List<TensorPlace> outputs;
  private final List<TensorPlace> inputs;

  /**
   * The place of a tensor.
   *
   * @param shape the extent of each dimension; they multiply to {@code count} elements
   */
  record TensorPlace(int segment, DType dtype, long offset, long count, List<Long> shape) {}

  /**
   * Reads a request from a whole frame without its length.
   *
   * @throws IllegalArgumentException if it is malformed
   */
  Request(ByteBuffer frame) {
    this.frame = frame;
    try {
      call = Byte.toUnsignedInt(frame.get());
      flags = frame.get();
      reduction = frame.get();
      frame.get();
      group = frame.getInt();
      peer = frame.getInt();
      tag = frame.getInt();
      timeoutMillis = frame.getLong();
      factor = frame.getDouble();
      int outputCount = Short.toUnsignedInt(frame.getShort());
      int inputCount = Short.toUnsignedInt(frame.getShort());
      if (frame.remaining() < (outputCount + inputCount) * TENSOR_BYTES) {
        throw new BufferUnderflowException();
      }
      outputs = places(outputCount);
      inputs = places(inputCount);
    } catch (BufferUnderflowException e) {
      throw tooShort(e);
    }
  }

  private static IllegalArgumentException tooShort(BufferUnderflowException cause) {
    return new IllegalArgumentException("The request is shorter than it says", cause);
  }

  private List<TensorPlace> places(int tensors) {
    if (tensors == 0) {
      return List.of();
    }
    List<TensorPlace> places = new ArrayList<>(tensors);
    for (int i = 0; i < tensors; i++) {
      int segment = frame.getInt();
      int dtype = frame.get();
      int dimensions = Byte.toUnsignedInt(frame.get());
      frame.position(frame.position() + 2);
      if (dtype < 0 || dtype >= DTYPES.length) {
        throw new IllegalArgumentException("There is no element type " + dtype);
      }
      long offset = frame.getLong();
      long count = frame.getLong();
      places.add(new TensorPlace(segment, DTYPES[dtype], offset, count, shape(dimensions, count)));
    }
    return places;
  }

  /** Reads a shape: one dimension has all elements; otherwise the extents follow. */
  private List<Long> shape(int dimensions, long count) {
    if (dimensions == 1) {
      return List.of(count);
    }
    List<Long> shape = new ArrayList<>(dimensions);
    for (int i = 0; i < dimensions; i++) {
      shape.add(frame.getLong());
    }
    if (!isOf(shape, count)) {
      throw new IllegalArgumentException("The shape " + shape + " has not " + count + " elements");
    }
    return shape;
  }

  private static boolean isOf(List<Long> shape, long count) {
    long product = 1;
    for (long extent : shape) {
      boolean tooMany = extent > 0 && product > Long.MAX_VALUE / extent;
      if (extent < 0 || tooMany) {
        return false;
      }
      product *= extent;
    }
    return product == count;
  }

  /** Returns the code of the call, see {@link CallCode}. */
  int call() {
    return call;
  }

  /** Returns whether the caller gets a work instead of a result. */
  boolean isAsynchronous() {
    return (flags & ASYNCHRONOUS) != 0;
  }

  /** Returns the flag that some calls have. */
  boolean isChosen() {
    return (flags & CHOICE) != 0;
  }

  /** Returns whether the memory that is asked for is the worker's scratch memory. */
  boolean isForScratch() {
    return (flags & SCRATCH) != 0;
  }

  ReduceOp reduction() {
    if (reduction == ReduceOp.Kind.PREMUL_SUM.ordinal()) {
      return ReduceOp.premulSum(factor);
    }
    if (reduction < 0 || reduction >= REDUCTIONS.length) {
      throw new IllegalArgumentException("There is no reduction " + reduction);
    }
    return REDUCTIONS[reduction];
  }

  int group() {
    return group;
  }

  int peer() {
    return peer;
  }

  int tag() {
    return tag;
  }

  /** Returns the timeout, or null for the group's. */
  Duration timeout() {
    return timeoutMillis == 0 ? null : Duration.ofMillis(timeoutMillis);
  }

  List<TensorPlace> outputs() {
    return outputs;
  }

  List<TensorPlace> inputs() {
    return inputs;
  }

  /** Returns whether nothing is left to be read. */
  boolean isAtEnd() {
    return !frame.hasRemaining();
  }

  byte nextByte() {
    require(1);
    return frame.get();
  }

  int nextInt() {
    require(Integer.BYTES);
    return frame.getInt();
  }

  long nextLong() {
    require(Long.BYTES);
    return frame.getLong();
  }

  int[] nextInts() {
    int[] values = new int[length(nextInt(), Integer.BYTES)];
    for (int i = 0; i < values.length; i++) {
      values[i] = frame.getInt();
    }
    return values;
  }

  long[] nextLongs() {
    long[] values = new long[length(nextInt(), Long.BYTES)];
    for (int i = 0; i < values.length; i++) {
      values[i] = frame.getLong();
    }
    return values;
  }

  byte[] nextBytes() {
    byte[] bytes = new byte[length(nextInt(), 1)];
    frame.get(bytes);
    return bytes;
  }

  /** The next byte string, which may have come before the request. */
  byte[] nextBytes(LargeBytes apart) {
    int length = nextInt();
    if (length == LargeBytes.APART) {
      return apart.next();
    }
    byte[] bytes = new byte[length(length, 1)];
    frame.get(bytes);
    return bytes;
  }

  String nextText() {
    return new String(nextBytes(), UTF_8);
  }

  List<String> nextTexts() {
    int count = length(nextInt(), Integer.BYTES);
    List<String> texts = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      texts.add(nextText());
    }
    return texts;
  }

  /** Returns the rest of the frame. */
  ByteBuffer rest() {
    return frame;
  }

  private int length(int count, int each) {
    if (count < 0 || (long) count * each > frame.remaining()) {
      throw tooShort(new BufferUnderflowException());
    }
    return count;
  }

  private void require(int bytes) {
    if (frame.remaining() < bytes) {
      throw tooShort(new BufferUnderflowException());
    }
  }
}
