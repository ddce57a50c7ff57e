package org.sparkcollectives.ddp;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.ArrayType;
import org.sparkcollectives.spi.tensor.HalfFormat;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TilePool;

/**
 * Sums gradients in a half type, and divides them before: by c10d's rule after they are rounded.
 */
final class HalfCompression implements CommHook {

  private final DType type;
  private final boolean divideFirst;

  HalfCompression(DType type, boolean divideFirst) {
    this.type = requireHalf(type);
    this.divideFirst = divideFirst;
  }

  static DType requireHalf(DType type) {
    if (!TensorArithmetic.isHalf(type)) {
      throw new IllegalArgumentException(
          "Gradients are compressed to float16 or bfloat16, not to "
              + (type == null ? null : type.label()));
    }
    return type;
  }

  @Override
  public CompletableFuture<Tensor> run(GradientBucket bucket) {
    HostTensor buffer = FloatElements.of(bucket.buffer(), "Compression to " + type.label());
    HostTensor halves = HostTensor.allocate(type, buffer.count());
    compress(buffer, halves, (float) bucket.divisor());
    return bucket
        .group()
        .allReduce(halves)
        .future()
        .thenApplyAsync(
            sums -> {
              FloatElements.convert(halves, buffer);
              return buffer;
            },
            bucket.executor());
  }

  private void compress(HostTensor buffer, HostTensor halves, float divisor) {
    short[] tile = (short[]) TilePool.borrow(ArrayType.SHORT);
    if (divideFirst || HalfFormat.of(type).hasInstructions()) {
      convert(buffer, halves, tile, divisor);
    } else {
      roundAndDivide(buffer, halves, tile, new HalfDivision(type, divisor));
    }
    TilePool.giveBack(ArrayType.SHORT, tile);
  }

  private void convert(HostTensor buffer, HostTensor halves, short[] tile, float divisor) {
    float[] floats = FloatElements.borrowTile();
    for (long done = 0; done < buffer.count(); done += FloatElements.TILE) {
      int length = (int) Math.min(FloatElements.TILE, buffer.count() - done);
      FloatElements.read(buffer, done, length, floats, 0);
      if (!divideFirst) {
        FloatElements.round(floats, length, type);
      }
      FloatElements.divide(floats, length, divisor);
      FloatElements.narrow(type, floats, 0, tile, length);
      halves.fromArray(done, length, tile, 0);
    }
    FloatElements.giveBackTile(floats);
  }

  private static void roundAndDivide(
      HostTensor buffer, HostTensor halves, short[] tile, HalfDivision division) {
    int[] bits = (int[]) TilePool.borrow(ArrayType.INT);
    ByteBuffer bytes =
        ByteBuffer.allocate(FloatElements.TILE * Float.BYTES).order(ByteOrder.nativeOrder());
    for (long done = 0; done < buffer.count(); done += FloatElements.TILE) {
      int length = (int) Math.min(FloatElements.TILE, buffer.count() - done);
      FloatElements.readBits(buffer, done, length, bytes, bits);
      division.roundAndDivide(bits, tile, length);
      halves.fromArray(done, length, tile, 0);
    }
    TilePool.giveBack(ArrayType.INT, bits);
  }
}
