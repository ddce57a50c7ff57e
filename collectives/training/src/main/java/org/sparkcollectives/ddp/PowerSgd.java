package org.sparkcollectives.ddp;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Sends each matrix of gradients as the product of two thin ones: c10d's PowerSGD hook, after
 * Vogels, Karimireddy and Jaggi, "PowerSGD: practical low-rank gradient compression for distributed
 * optimization" (2019).
 *
 * <p>A gradient with n rows (its first extent) and m columns (all others) of rank r takes (n + m) r
 * numbers instead of n m, and about 6 n m r operations on each rank. It pays where ranks are
 * connected by a network, and matrices are large. What becomes less than {@link
 * PowerSgdOptions#minCompressionRate} times smaller, such as a bias, is averaged as it is. The
 * first {@link PowerSgdOptions#start} steps are plain means.
 *
 * <p>Each rank keeps what the product left out of its own gradient and adds it in the next step: so
 * the gradients that all steps give, and what is left, add up to the means. That takes as much
 * memory as the matrices in float32. P and Q are computed in float32, and sent in the gradients'
 * type; those of float64 are sent in float32.
 *
 * <p>Unlike c10d's, it works with any number of buckets; what it remembers belongs to parameters,
 * not to buckets; a column without a norm, or one that depends on others, becomes 0 instead of NaN
 * or noise; a matrix that was 0 in one step is sent in the next ones; and a NaN is not remembered.
 *
 * <p>A step that fails after its buckets were reduced, because of what a rank did not mark, has
 * changed what is remembered.
 *
 * <p>Each rank makes one for its reducer, with the same options. In the first step the ranks
 * compare the options, and all throw {@link IllegalArgumentException} if they differ. A hook
 * belongs to one reducer. Its methods may be called by any thread, and wait while a bucket is
 * compressed, for a few of the group's timeouts at most.
 */
public final class PowerSgd implements CommHook {

  private final PowerSgdOptions options;
  private final PowerSgdMemory memory;
  private ProcessGroup agreed;
  private long iteration;
  private long elementsBefore;
  private long elementsAfter;

  /** Creates the hook of one reducer. */
  public PowerSgd(PowerSgdOptions options) {
    this(options, normalNumbers(options.seed()));
  }

  PowerSgd(PowerSgdOptions options, PowerSgdMemory.Draw draw) {
    this.options = Objects.requireNonNull(options, "options");
    this.memory = new PowerSgdMemory(options, draw);
  }

  private static PowerSgdMemory.Draw normalNumbers(long seed) {
    return (length, columns, draw) -> {
      Random random = new Random(seed * 0x9e3779b97f4a7c15L + draw);
      float[] numbers = new float[length * columns];
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = (float) random.nextGaussian();
      }
      return numbers;
    };
  }

  @Override
  public synchronized CompletableFuture<Tensor> run(GradientBucket bucket) {
    HostTensor buffer = FloatElements.of(bucket.buffer(), "PowerSGD");
    agree(bucket.group());
    CompletableFuture<Tensor> reduced;
    if (iteration < options.start()) {
      reduced = MeanAllReduce.of(bucket).begin(buffer);
    } else {
      compress(bucket);
      reduced = CompletableFuture.completedFuture(buffer);
    }
    if (bucket.isLast()) {
      iteration++;
    }
    return reduced;
  }

  private void compress(GradientBucket bucket) {
    PowerSgdBucket compression =
        options.batched()
            ? PowerSgdBucket.batched(bucket, options, memory)
            : PowerSgdBucket.byParameter(bucket, options, memory);
    compression.run();
    elementsBefore += bucket.buffer().count();
    elementsAfter += compression.elementsAfter();
  }

  /** Compares the options with the other ranks, once for each group. */
  private void agree(ProcessGroup group) {
    if (group.equals(agreed)) {
      return;
    }
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("number of steps", iteration);
    counts.put("number of draws", memory.draws());
    long[] all = HookStart.agree(group, "PowerSGD", options::texts, agreed == null, counts);
    iteration = all[0];
    memory.setDraws(all[1]);
    if (agreed != null) {
      memory.forgetFactors();
    }
    agreed = group;
  }

  /**
   * Returns how many times fewer numbers the compressed steps have averaged than there are
   * gradients, those that are not compressed included; 1 before the first one.
   */
  public synchronized double compressionRate() {
    return elementsAfter == 0 ? 1 : (double) elementsBefore / elementsAfter;
  }

  synchronized long elementsBefore() {
    return elementsBefore;
  }

  synchronized long elementsAfter() {
    return elementsAfter;
  }

  /**
   * Returns copies of all that this rank remembers, to be saved with the model after a step. What
   * was left out differs from rank to rank: each rank saves its own.
   *
   * @return by names, among them {@code counts} and, of the first parameter, {@code parameter
   *     0/shape}, {@code parameter 0/error} with the shape [n, m], {@code parameter 0/divisor} and
   *     {@code parameter 0/q} with the shape [r, m]
   */
  public synchronized Map<String, Tensor> state() {
    return new PowerSgdState(memory).save(iteration, memory.draws(), elementsBefore, elementsAfter);
  }

  /**
   * Takes over what {@link #state} returned on this rank, before the first step. All ranks restore
   * the state of the same step, or none does.
   *
   * <p>With {@link PowerSgdOptions#withBatched} the state belongs to buckets, and the first step
   * fails with {@link IllegalStateException} on all ranks if the reducer has others: create it with
   * {@link ReducerOptions#withRebuild withRebuild(false)} or the same {@link
   * ReducerOptions#withReadyOrder}, also for the training that is saved.
   *
   * @throws IllegalArgumentException if it is not such a state; then nothing changes
   * @throws IllegalStateException if a bucket has been reduced before
   */
  public synchronized void restore(Map<String, Tensor> state) {
    if (agreed != null) {
      throw new IllegalStateException(
          "PowerSGD has reduced a bucket already: restore the state of a new PowerSgd, before its"
              + " first step");
    }
    long[] counts = new PowerSgdState(memory).restore(state);
    iteration = counts[0];
    memory.setDraws(counts[1]);
    elementsBefore = counts[2];
    elementsAfter = counts[3];
  }
}
