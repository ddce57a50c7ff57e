package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.sparkcollectives.PersistentCollective;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * A bucket of the reducer: its memory, what is missing of it in the step under way, and its result.
 * A bucket of sparse gradients has one parameter and no memory.
 */
final class ReducerBucket implements GradientBucket {

  private final ProcessGroup group;
  private final int index;
  private final boolean last;
  private final int[] parameters;
  private final List<Tensor> values;
  private final Tensor memory;
  private final Tensor gradients;
  private final AtomicInteger pending = new AtomicInteger();
  private volatile long step;
  private volatile double divisor;
  private volatile Executor executor = Runnable::run;
  private volatile Tensor buffer;
  private volatile SparseTensor sparse;
  private volatile Runnable reduction = () -> {};

  // Of the last step, and usually of the next, too. Guarded by the lock of the launcher, which
  // begins the reductions.
  private PersistentCollective sum;
  private Tensor summed;
  private ReduceOp summedBy;

  /** Where a bucket is among the others. */
  record Position(int index, boolean last) {}

  /**
   * Creates a bucket.
   *
   * @param memory the gradients, one after the other, and in the last bucket one element more,
   *     which says whether the step has failed; null for a sparse gradient
   */
  ReducerBucket(
      ProcessGroup group, Position position, int[] parameters, List<Tensor> values, Tensor memory) {
    this.group = group;
    this.index = position.index();
    this.last = position.last();
    this.parameters = parameters.clone();
    this.values = List.copyOf(values);
    this.memory = memory;
    this.divisor = group.size();
    this.gradients =
        memory == null ? null : memory.slice(0, values.stream().mapToLong(Tensor::count).sum());
    this.buffer = gradients;
  }

  /** Begins a step: nothing is there yet. */
  void begin(long number) {
    step = number;
    buffer = gradients;
    sparse = null;
    reduction = null;
    pending.set(parameters.length);
  }

  /** Notes that one gradient is there. Returns whether it was the last that was missing. */
  boolean arrive() {
    return pending.decrementAndGet() == 0;
  }

  boolean isReady() {
    return pending.get() == 0;
  }

  /** Notes what waits for the reduction that has begun. */
  void reduceBy(Runnable begun) {
    reduction = begun;
  }

  /** Waits until the bucket holds the mean. */
  void awaitReduction() {
    reduction.run();
  }

  boolean isSparse() {
    return memory == null;
  }

  SparseTensor sparse() {
    return sparse;
  }

  void setSparse(SparseTensor gradient) {
    sparse = gradient;
  }

  void setDivisor(double value) {
    divisor = value;
  }

  void setExecutor(Executor ofHook) {
    executor = ofHook;
  }

  /**
   * Begins the all-reduce of {@link #reduced} or {@link #withFlag}, which is prepared when it is
   * first used: the memory is the same in each step. The one of the step before has been waited
   * for.
   */
  Work allReduce(Tensor part, ReduceOp op) {
    if (part != summed || !op.equals(summedBy)) {
      sum = group.allReduceInit(part, op);
      summed = part;
      summedBy = op;
    }
    return sum.start();
  }

  /** Returns the gradients in the reducer's memory, whatever buffer a hook has set. */
  Tensor reduced() {
    return gradients;
  }

  /** Returns the gradients with the element that says whether the step has failed. */
  Tensor withFlag() {
    return memory;
  }

  /** Returns the element that says whether the step has failed. */
  Tensor flag() {
    return memory.slice(gradients.count(), 1);
  }

  /** Says whether the step has failed on this rank. */
  void setFlag(boolean failed) {
    flag().copyFrom(TensorArithmetic.scalar(memory.dtype(), failed ? 1 : 0));
  }

  /** Returns the place of one gradient, by its position in the bucket, with its shape. */
  Tensor place(Tensor of, int position) {
    long offset = values.stream().limit(position).mapToLong(Tensor::count).sum();
    Tensor value = values.get(position);
    return of.slice(offset, value.count()).reshape(value.shape());
  }

  @Override
  public int index() {
    return index;
  }

  @Override
  public boolean isLast() {
    return last;
  }

  @Override
  public long step() {
    return step;
  }

  @Override
  public double divisor() {
    return divisor;
  }

  @Override
  public ProcessGroup group() {
    return group;
  }

  @Override
  public Executor executor() {
    return executor;
  }

  @Override
  public Tensor buffer() {
    requireDense();
    return buffer;
  }

  @Override
  public void setBuffer(Tensor replacement) {
    requireDense();
    if (replacement.dtype() != gradients.dtype() || replacement.count() != gradients.count()) {
      throw new IllegalArgumentException(
          "The buffer of " + this + " cannot be " + replacement + ": type and count must be equal");
    }
    buffer = replacement.reshape(replacement.count());
  }

  @Override
  public List<Tensor> gradients() {
    Tensor current = buffer();
    return IntStream.range(0, values.size()).mapToObj(i -> place(current, i)).toList();
  }

  private void requireDense() {
    if (isSparse()) {
      throw new IllegalStateException(this + " has a sparse gradient, and no buffer");
    }
  }

  @Override
  public int[] parameters() {
    return parameters.clone();
  }

  @Override
  public List<Tensor> values() {
    return values;
  }

  /**
   * Returns the bucket for messages, such as {@code bucket 0, float32[12] of parameters [2, 1]}.
   */
  @Override
  public String toString() {
    return "bucket "
        + index
        + (isSparse() ? ", sparse" : ", " + gradients)
        + " of parameters "
        + Arrays.toString(parameters);
  }
}
