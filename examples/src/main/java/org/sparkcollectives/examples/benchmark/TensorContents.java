package org.sparkcollectives.examples.benchmark;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.Tensor;

/** Writes and compares the elements of tensors of one type, in any memory. Not thread-safe. */
final class TensorContents {

  /** A number for each place of a tensor; complex elements have two places. */
  @FunctionalInterface
  interface Numbers {
    double at(long place);
  }

  private static final int CHUNK_BYTES = 1 << 16;

  private final DType dtype;
  private final int places;
  private final ByteBuffer wanted = buffer();
  private final ByteBuffer found = buffer();

  TensorContents(DType dtype) {
    this.dtype = dtype;
    this.places = dtype.isComplex() ? 2 : 1;
  }

  private static ByteBuffer buffer() {
    return ByteBuffer.allocateDirect(CHUNK_BYTES).order(ByteOrder.nativeOrder());
  }

  /** Returns how many numbers make one element. */
  int places() {
    return places;
  }

  /** Fills {@code tensor} with these numbers. */
  void fill(Tensor tensor, Numbers numbers) {
    eachChunk(
        tensor,
        (offset, chunk) -> {
          encode(offset, chunk.count(), numbers);
          chunk.copyFrom(Tensor.wrap(dtype, wanted));
          return 0;
        });
  }

  /** Returns how many elements of {@code tensor} differ, in any bit, from these numbers. */
  long wrong(Tensor tensor, Numbers numbers) {
    return eachChunk(
        tensor,
        (offset, chunk) -> {
          encode(offset, chunk.count(), numbers);
          found.clear().limit(wanted.limit());
          Tensor.wrap(dtype, found).copyFrom(chunk);
          return differing();
        });
  }

  private interface Step {
    long run(long offset, Tensor chunk);
  }

  private long eachChunk(Tensor tensor, Step step) {
    long most = CHUNK_BYTES / dtype.bytes();
    long sum = 0;
    for (long offset = 0; offset < tensor.count(); offset += most) {
      long count = Math.min(most, tensor.count() - offset);
      sum += step.run(offset, tensor.slice(offset, count));
    }
    return sum;
  }

  private long differing() {
    long count = 0;
    int at = 0;
    while (at < wanted.limit()) {
      int distance =
          wanted.slice(at, wanted.limit() - at).mismatch(found.slice(at, wanted.limit() - at));
      if (distance < 0) {
        return count;
      }
      count++;
      at += (distance / dtype.bytes() + 1) * dtype.bytes();
    }
    return count;
  }

  private void encode(long offset, long count, Numbers numbers) {
    wanted.clear();
    long end = (offset + count) * places;
    for (long place = offset * places; place < end; place++) {
      put(numbers.at(place));
    }
    wanted.flip();
  }

  private void put(double number) {
    switch (dtype) {
      case BOOL -> wanted.put((byte) (number == 0 ? 0 : 1));
      case UINT8, INT8, FLOAT8_E4M3, FLOAT8_E5M2 -> wanted.put((byte) (long) number);
      case INT16 -> wanted.putShort((short) (long) number);
      case INT32 -> wanted.putInt((int) (long) number);
      case INT64 -> wanted.putLong((long) number);
      case FLOAT16 -> wanted.putShort(Float16.fromFloat((float) number));
      case BFLOAT16 -> wanted.putShort(BFloat16.fromFloat((float) number));
      case FLOAT32, COMPLEX64 -> wanted.putFloat((float) number);
      case FLOAT64, COMPLEX128 -> wanted.putDouble(number);
    }
  }
}
