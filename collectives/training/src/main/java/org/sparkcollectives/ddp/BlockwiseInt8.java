package org.sparkcollectives.ddp;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Sends gradients as int8 with a scale for each block of neighbours, and adds the rounding error to
 * the next gradients: block-wise quantization with error feedback.
 *
 * <p>With n ranks and gradients of N bytes in float32, a rank sends about (n - 1) / n N / 2: a
 * quarter of what an all-reduce sends, for any n. Each rank gets the bytes of all ranks for its
 * part of the bucket, sums them in float32, and sends the sum as bytes, as ZeRO++ does: so each
 * number is rounded twice, whatever n is. A byte is off by at most 1/254 of the largest magnitude
 * of its block. All ranks get the same bits.
 *
 * <p><b>Where it is faster.</b> In the first ten steps with buckets of a size, each is reduced both
 * ways, one after the other, and gets the plain mean. Then all ranks choose int8 if it took less
 * than three quarters of the time: over a slow network, but not within a host. {@link
 * BlockwiseInt8Options#withAlways} compresses from the first step on.
 *
 * <p><b>Error feedback.</b> What is left out, of the ranks' bytes and of the sum's, is added in the
 * next step: so the gradients that all steps give, and what is left, add up to the means
 * (Karimireddy et al., "Error feedback fixes SignSGD and other gradient compression schemes", 2019;
 * of both roundings Tang et al., "DoubleSqueeze", 2019). It belongs to parameters, not to buckets.
 *
 * <p>A NaN or an infinity makes its block NaN on all ranks, and is not remembered. Gradients are of
 * any real floating-point type; those of float64 are rounded to float32.
 *
 * <p>Each rank makes one for its reducer, with the same options. In the first step the ranks
 * compare the options, and all throw {@link IllegalArgumentException} if they differ. A hook
 * belongs to one reducer. Its methods may be called by any thread, and wait while a bucket is
 * reduced, which must be done within the group's timeout, in the first ten steps both ways.
 *
 * @see <a href="https://arxiv.org/abs/2306.10209">Wang et al., "ZeRO++", 2023</a>
 * @see <a href="https://arxiv.org/abs/2110.02861">Dettmers et al., "8-bit optimizers via block-wise
 *     quantization", 2021</a>
 */
public final class BlockwiseInt8 implements CommHook {

  private final BlockwiseInt8Options options;
  private final LongSupplier clock;
  private final Int8Errors errors;
  private Int8Choice choice;
  private ProcessGroup agreed;
  private long iteration;
  private long bytesBefore;
  private long bytesAfter;

  /** Creates the hook of one reducer. */
  public BlockwiseInt8(BlockwiseInt8Options options) {
    this(options, System::nanoTime);
  }

  BlockwiseInt8(BlockwiseInt8Options options, LongSupplier clock) {
    this.options = Objects.requireNonNull(options, "options");
    this.clock = clock;
    this.errors = new Int8Errors(options);
  }

  @Override
  public synchronized CompletableFuture<Tensor> run(GradientBucket bucket) {
    HostTensor buffer = FloatElements.of(bucket.buffer(), "Compression to int8");
    agree(bucket.group());
    if (bucket.isLast()) {
      iteration++;
    }
    if (buffer.count() == 0) {
      return CompletableFuture.completedFuture(buffer);
    }
    Int8Bucket memory = errors.of(bucket);
    boolean done = false;
    try {
      CompletableFuture<Tensor> reduced = reduce(bucket, memory);
      done = true;
      return reduced;
    } finally {
      if (!done) {
        memory.forgetErrors();
      }
    }
  }

  private CompletableFuture<Tensor> reduce(GradientBucket bucket, Int8Bucket memory) {
    Tensor buffer = bucket.buffer();
    long bytes = buffer.count() * buffer.dtype().bytes();
    bytesBefore += bytes;
    boolean compresses = bucket.group().size() > 1;
    if (compresses && !options.always()) {
      if (choice.isUnknown(bucket)) {
        memory.addErrors(bucket);
        choice.measure(bucket, memory, options.errorFeedback());
        bytesAfter += bytes;
        return CompletableFuture.completedFuture(buffer);
      }
      compresses = choice.isFaster(bucket);
      if (!compresses) {
        memory.forgetExchange();
      }
    }
    if (compresses) {
      CompletableFuture<Tensor> mean = memory.compress(bucket);
      bytesAfter += memory.bytes();
      return mean;
    }
    memory.addErrors(bucket);
    bytesAfter += bytes;
    return MeanAllReduce.of(bucket).begin(buffer);
  }

  /** Compares the options with the other ranks, once for each group. */
  private void agree(ProcessGroup group) {
    if (!group.equals(agreed)) {
      Map<String, Long> counts = Map.of("number of steps", iteration);
      iteration = HookStart.agree(group, "int8", options::texts, agreed == null, counts)[0];
      choice = new Int8Choice(clock);
      agreed = group;
    }
  }

  /**
   * Returns the compression rate so far: the bytes of all gradients divided by the bytes in which
   * their means were sent, including buckets that were not compressed. 1 before the first step, and
   * where int8 is not chosen.
   */
  public synchronized double compressionRate() {
    return bytesAfter == 0 ? 1 : (double) bytesBefore / bytesAfter;
  }

  /**
   * Returns copies of what was left out on this rank, to be saved with the model after a step. It
   * differs from rank to rank: each rank saves its own.
   *
   * @return by names: {@code counts} and, of the first parameter, {@code parameter 0/error} and
   *     {@code parameter 0/divisor}
   */
  public synchronized Map<String, Tensor> state() {
    return errors.save(iteration);
  }

  /**
   * Takes over what {@link #state} returned on this rank, before the first step. All ranks restore
   * the state of the same step, or none does. The ranks measure again which way is faster.
   *
   * @throws IllegalArgumentException if it is not such a state; then nothing changes
   * @throws IllegalStateException if a bucket has been reduced before
   */
  public synchronized void restore(Map<String, Tensor> state) {
    if (agreed != null) {
      throw new IllegalStateException(
          "BlockwiseInt8 has reduced a bucket already: restore the state of a new BlockwiseInt8,"
              + " before its first step");
    }
    iteration = errors.restore(state);
  }
}
