package org.sparkcollectives.ddp;

import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

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
    float divisor = (float) bucket.divisor();
    FloatElements.convert(
        buffer,
        halves,
        (tile, length) -> {
          if (!divideFirst) {
            FloatElements.round(tile, length, type);
          }
          FloatElements.divide(tile, length, divisor);
        });
    return bucket
        .group()
        .allReduce(halves)
        .future()
        .thenApply(
            sums -> {
              FloatElements.convert(halves, buffer);
              return buffer;
            });
  }
}
