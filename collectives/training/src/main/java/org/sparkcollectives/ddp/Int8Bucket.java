package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The memory of a bucket that is sent as int8: of the exchange, and what was left out of it. */
final class Int8Bucket {

  private final int[] parameters;
  private final int count;
  private final BlockwiseInt8Options options;
  private Int8Exchange exchange;

  /** Null if nothing was left out, or nobody asks for it. */
  private float[] errors;

  /** The divisor of the step that left the errors. */
  private double divisor;

  Int8Bucket(GradientBucket bucket, BlockwiseInt8Options options) {
    this.parameters = bucket.parameters();
    this.count = Int8Exchange.requireFit(bucket.buffer().count());
    this.options = options;
  }

  /** Returns whether a bucket has the same parameters. */
  boolean isOf(GradientBucket bucket) {
    return bucket.buffer().count() == count && Arrays.equals(bucket.parameters(), parameters);
  }

  int[] parameters() {
    return parameters;
  }

  /** Returns what was left out; null if nothing was. */
  float[] errors() {
    return errors;
  }

  double divisor() {
    return divisor;
  }

  /** Takes over what was left out of one of the parameters. */
  void keepErrors(Int8Errors.Remainder saved, int at, double ownDivisor) {
    if (errors == null) {
      errors = new float[count];
      divisor = ownDivisor;
    }
    float scale = (float) (ownDivisor / saved.divisor());
    for (int i = 0; i < saved.values().length; i++) {
      errors[at + i] = saved.values()[i] * scale;
    }
  }

  /** Returns how many bytes the bucket has on the wire. */
  long bytes() {
    return exchange.bytes();
  }

  private Int8Exchange exchange(GradientBucket bucket) {
    if (exchange == null || !exchange.isOf(bucket.group())) {
      exchange = new Int8Exchange(bucket.group(), count, options.blockSize());
    }
    return exchange;
  }

  /**
   * Begins the mean of the gradients as int8; waits for the first of two collectives, for the
   * group's timeout at most.
   */
  CompletableFuture<Tensor> compress(GradientBucket bucket) {
    HostTensor buffer = HostTensor.of(bucket.buffer());
    double by = bucket.divisor();
    float scale = errors == null ? 1 : (float) (by / divisor);
    if (errors == null && options.errorFeedback()) {
      errors = new float[count];
    }
    divisor = by;
    Int8Exchange used = exchange(bucket);
    used.quantize(buffer, errors, scale);
    used.sendToOwners();
    used.sum(errors);
    return used.sendToAll()
        .future()
        .thenApplyAsync(
            all -> {
              used.dequantize(buffer, by);
              return buffer;
            },
            bucket.executor());
  }

  /**
   * Does what {@link #compress} does, and changes nothing; waits until all is done, for two of the
   * group's timeouts at most.
   */
  void rehearse(GradientBucket bucket, HostTensor scratch, float[] scratchErrors) {
    Int8Exchange used = exchange(bucket);
    used.quantize(HostTensor.of(bucket.buffer()), scratchErrors, 1);
    used.sendToOwners();
    used.sum(scratchErrors);
    used.sendToAll().await();
    used.dequantize(scratch, bucket.divisor());
  }

  /** Adds what was left out to the gradients, which will be sent as they are. */
  void addErrors(GradientBucket bucket) {
    if (errors == null) {
      return;
    }
    float[] before = errors;
    float scale = (float) (bucket.divisor() / divisor);
    HostTensor buffer = HostTensor.of(bucket.buffer());
    float[] tile = FloatElements.borrowTile();
    for (int at = 0; at < count; at += FloatElements.TILE) {
      int n = Math.min(FloatElements.TILE, count - at);
      FloatElements.read(buffer, at, n, tile, 0);
      for (int i = 0; i < n; i++) {
        tile[i] += before[at + i] * scale;
      }
      FloatElements.write(tile, 0, buffer, at, n);
    }
    FloatElements.giveBackTile(tile);
    errors = null;
  }

  /** Frees the memory of the exchange, until it is needed again. */
  void forgetExchange() {
    if (exchange != null) {
      exchange.close();
      exchange = null;
    }
  }

  /** Forgets what was left out. */
  void forgetErrors() {
    errors = null;
  }
}
