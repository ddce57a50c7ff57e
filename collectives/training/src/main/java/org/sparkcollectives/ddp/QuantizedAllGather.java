package org.sparkcollectives.ddp;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Gathers the gradients of all ranks as bytes, and adds them up. */
final class QuantizedAllGather implements CommHook {

  /** Stands for a channel that is the whole bucket. */
  static final int WHOLE_BUCKET = 0;

  private final int channel;

  QuantizedAllGather(int channel) {
    this.channel = channel;
  }

  @Override
  public CompletableFuture<Tensor> run(GradientBucket bucket) {
    HostTensor buffer = FloatElements.of(bucket.buffer(), "Quantization");
    if (buffer.count() == 0) {
      return CompletableFuture.completedFuture(buffer);
    }
    ProcessGroup group = bucket.group();
    double divisor = bucket.divisor();
    Quantization quantization =
        new Quantization(buffer.count(), channel == WHOLE_BUCKET ? buffer.count() : channel);
    HostTensor own = quantization.allocateBytes();
    float[] parameters = quantization.quantize(buffer, own);
    float[] allParameters = new float[group.size() * parameters.length];
    Work parametersOfAll = group.allGather(Tensor.of(allParameters), Tensor.of(parameters));
    HostTensor[] bytes =
        Stream.generate(quantization::allocateBytes).limit(group.size()).toArray(HostTensor[]::new);
    Work bytesOfAll = group.allGather(List.<Tensor>of(bytes), own);
    return parametersOfAll
        .future()
        .thenCombineAsync(
            bytesOfAll.future(),
            (first, second) -> {
              quantization.sum(bytes, allParameters, divisor, buffer);
              return buffer;
            },
            bucket.executor());
  }
}
