package org.sparkcollectives.ddp;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * Sums tensors over all ranks and divides the sums by a number that is often the number of ranks,
 * but not in a join or with weights. The sum is divided once, and rounded once.
 */
final class MeanAllReduce {

  private final ProcessGroup group;
  private final double divisor;
  private final boolean byRanks;

  MeanAllReduce(ProcessGroup group, double divisor) {
    this.group = group;
    this.divisor = divisor;
    this.byRanks = divisor == group.size();
  }

  /** Creates the mean over the ranks of a bucket's group. */
  static MeanAllReduce of(GradientBucket bucket) {
    return new MeanAllReduce(bucket.group(), bucket.divisor());
  }

  /** Begins the mean, in place; does not block. */
  CompletableFuture<Tensor> begin(Tensor tensor) {
    Work work = group.allReduce(tensor, reduction(tensor.dtype(), byRanks));
    return work.future()
        .thenApply(
            done -> {
              divide(tensor);
              return tensor;
            });
  }

  /** Begins the means of several tensors of one type, in place; to be ended with {@link #end}. */
  Work beginAll(List<Tensor> tensors) {
    return group.allReduceCoalesced(tensors, reduction(tensors.get(0).dtype(), byRanks));
  }

  /** Waits for the means of several tensors, for the operation's own deadline at most. */
  void end(Work work, List<Tensor> tensors) {
    work.await();
    tensors.forEach(this::divide);
  }

  /** Computes the mean in place; blocks for the operation's own deadline at most. */
  void compute(Tensor tensor) {
    group.allReduce(tensor, reduction(tensor.dtype(), byRanks)).await();
    divide(tensor);
  }

  private void divide(Tensor tensor) {
    if (!byRanks) {
      divide(tensor, group.size(), divisor);
    }
  }

  /**
   * Returns the reduction before a division. A sum of halves could overflow where its mean does
   * not: that is divided in float32.
   *
   * @param byRanks whether the divisor is the number of ranks, so that no division is needed
   */
  static ReduceOp reduction(DType type, boolean byRanks) {
    return byRanks || TensorArithmetic.isHalf(type) ? ReduceOp.AVG : ReduceOp.SUM;
  }

  /** Turns what {@link #reduction} over so many ranks has given into the sum over a divisor. */
  static void divide(Tensor reduced, int ranks, double divisor) {
    if (TensorArithmetic.isHalf(reduced.dtype())) {
      TensorArithmetic.multiply(reduced, ranks / divisor);
    } else {
      TensorArithmetic.divide(reduced, divisor);
    }
  }
}
