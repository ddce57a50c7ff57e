package org.sparkcollectives.ddp;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Shows gradients in a half type to another hook, and converts back what it makes of them. */
final class Compressed implements CommHook {

  private final DType type;
  private final CommHook inner;

  Compressed(DType type, CommHook inner) {
    this.type = HalfCompression.requireHalf(type);
    this.inner = Objects.requireNonNull(inner, "inner hook");
  }

  @Override
  public CompletableFuture<Tensor> run(GradientBucket bucket) {
    HostTensor buffer = FloatElements.of(bucket.buffer(), "Compression to " + type.label());
    HostTensor halves = HostTensor.allocate(type, buffer.count());
    FloatElements.convert(buffer, halves);
    GradientBucket converted = new ConvertedBucket(bucket, halves);
    return inner
        .run(converted)
        .thenApplyAsync(
            result -> {
              HostTensor reduced = HostTensor.of(ConvertedBucket.check(converted, result));
              FloatElements.convert(reduced, buffer);
              return buffer;
            },
            bucket.executor());
  }
}
