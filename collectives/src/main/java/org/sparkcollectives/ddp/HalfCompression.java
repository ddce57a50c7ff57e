package org.sparkcollectives.ddp;

import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.ArrayType;
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
    float[] floats = FloatElements.borrowTile();
    short[] tile = (short[]) TilePool.borrow(ArrayType.SHORT);
    for (long done = 0; done < buffer.count(); done += FloatElements.TILE) {
      int length = (int) Math.min(FloatElements.TILE, buffer.count() - done);
      FloatElements.read(buffer, done, length, floats, 0);
      if (divideFirst) {
        FloatElements.divide(floats, length, divisor);
        FloatElements.narrow(type, floats, 0, tile, length);
      } else {
        HalfDivision.roundAndDivide(type, floats, tile, length, divisor);
      }
      halves.fromArray(done, length, tile, 0);
    }
    TilePool.giveBack(ArrayType.SHORT, tile);
    FloatElements.giveBackTile(floats);
  }
}
