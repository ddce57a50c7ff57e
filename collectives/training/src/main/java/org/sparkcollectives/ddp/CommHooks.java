package org.sparkcollectives.ddp;

import java.util.concurrent.CompletableFuture;
import java.util.function.IntPredicate;
import org.sparkcollectives.DType;

/**
 * Creates the hooks that PyTorch brings for its {@code DistributedDataParallel}.
 *
 * <p>All ranks use the same hook, with the same settings. A hook of this class has no state: it may
 * serve several reducers at once. A hook refuses what it cannot reduce, with {@link
 * IllegalArgumentException}, before it writes to the bucket. Where traffic is given, n is the
 * number of ranks and N the bytes of the gradients in float32.
 */
public final class CommHooks {

  private CommHooks() {}

  /**
   * Returns the hook that does what the reducer does without one: the mean, with one division of
   * the sum and one rounding. c10d's {@code allreduce_hook} divides first.
   */
  public static CommHook allReduce() {
    return bucket -> MeanAllReduce.of(bucket).begin(bucket.buffer());
  }

  /**
   * Returns the hook that sends gradients as float16, in half to three quarters of the bytes:
   * c10d's {@code fp16_compress_hook}.
   *
   * <p>As there, gradients are rounded to float16 before they are divided: one above 65,519 becomes
   * infinite even where the mean would fit, see {@link #divideFirst}. The halves of all ranks are
   * added in float32 and rounded once. Gradients may be of any real floating-point type.
   */
  public static CommHook float16() {
    return new HalfCompression(DType.FLOAT16, false);
  }

  /**
   * Returns the hook that sends gradients as bfloat16, in half to three quarters of the bytes:
   * c10d's {@code bf16_compress_hook}. It keeps the range of float32, and 8 bits of each number.
   * Otherwise as {@link #float16}.
   */
  public static CommHook bfloat16() {
    return new HalfCompression(DType.BFLOAT16, false);
  }

  /**
   * Returns the hook that divides gradients before it rounds them to a half type, and sums those.
   * It costs what {@link #float16} costs, does not overflow where the mean fits, and rounds once
   * less. c10d has no such hook.
   *
   * @param type {@link DType#FLOAT16} or {@link DType#BFLOAT16}
   */
  public static CommHook divideFirst(DType type) {
    return new HalfCompression(type, true);
  }

  /**
   * Returns a hook that converts the gradients to a half type, lets another hook reduce them, and
   * converts its result back: c10d's {@code fp16_compress_wrapper} and {@code
   * bf16_compress_wrapper}.
   *
   * @param type {@link DType#FLOAT16} or {@link DType#BFLOAT16}
   * @param inner the hook; its result must be of this type and of the bucket's count, else the step
   *     fails with {@link IllegalStateException}
   */
  public static CommHook compressed(DType type, CommHook inner) {
    return new Compressed(type, inner);
  }

  /**
   * Returns the hook that sends gradients as bytes, with one scale for the bucket: c10d's {@code
   * quantization_pertensor_hook}.
   *
   * <p>Each rank receives (n - 1) N / 4 bytes, and needs n N / 4 of memory; an all-reduce sends 2
   * (n - 1) / n N. So it saves traffic for less than eight ranks. A bucket with a NaN or an
   * infinity becomes NaN. Differences below 2<sup>-23</sup> are lost.
   */
  public static CommHook quantizedPerTensor() {
    return new QuantizedAllGather(QuantizedAllGather.WHOLE_BUCKET);
  }

  /**
   * Returns the hook that sends gradients as bytes, with one scale for each channel, which is a
   * number of neighbouring elements: c10d's {@code quantization_perchannel_hook}, which has 512 of
   * them. It is closer than {@link #quantizedPerTensor} where gradients of a bucket differ much in
   * size, and sends eight bytes more for each channel. A NaN or an infinity makes its channel NaN.
   *
   * @param elements the size of a channel, at least 1
   */
  public static CommHook quantizedPerChannel(int elements) {
    if (elements < 1) {
      throw new IllegalArgumentException(
          "A channel has at least one element, not " + elements + "; c10d's have 512");
    }
    return new QuantizedAllGather(elements);
  }

  /**
   * Returns the hook that leaves each rank its own gradients: c10d's {@code noop_hook}, to measure
   * what communication costs.
   */
  public static CommHook noop() {
    return bucket -> CompletableFuture.completedFuture(bucket.buffer());
  }

  /**
   * Returns a hook that updates all parameters of a bucket as soon as another hook has reduced it,
   * see {@link #thenStep(CommHook, IntPredicate, ParameterStep)}.
   */
  public static CommHook thenStep(CommHook inner, ParameterStep step) {
    return thenStep(inner, parameter -> true, step);
  }

  /**
   * Returns a hook that updates parameters of a bucket as soon as another hook has reduced it,
   * while the backward pass goes on: c10d's {@code _hook_then_optimizer}.
   *
   * <p>The reducer's thread waits for the reduction, and begins the next bucket after the updates.
   * The values must not be read any more by the backward pass when their gradients are ready. If
   * the step fails later, for what another rank did not mark, these parameters have been updated.
   *
   * @param inner the hook that reduces
   * @param parameters which parameters are updated here, by their positions in the reducer's list;
   *     the gradients of the others stay for the usual optimizer
   * @param step updates one parameter
   */
  public static CommHook thenStep(CommHook inner, IntPredicate parameters, ParameterStep step) {
    return new StepAfterReduction(inner, parameters, step);
  }
}
