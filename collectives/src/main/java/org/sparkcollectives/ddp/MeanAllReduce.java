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
    Work work = group.allReduce(tensor, reduction(tensor.dtype()));
    return work.future()
        .thenApply(
            done -> {
              divide(tensor);
              return tensor;
            });
  }

  /** Begins the means of several tensors of one type, in place; to be ended with {@link #end}. */
  Work beginAll(List<Tensor> tensors) {
    return group.allReduceCoalesced(tensors, reduction(tensors.get(0).dtype()));
  }

  /** Waits for the means of several tensors, for the operation's own deadline at most. */
  void end(Work work, List<Tensor> tensors) {
    work.await();
    tensors.forEach(this::divide);
  }

  /** Computes the mean in place; blocks for the operation's own deadline at most. */
  void compute(Tensor tensor) {
    group.allReduce(tensor, reduction(tensor.dtype())).await();
    divide(tensor);
  }

  /** A sum of halves could overflow where its mean does not: that is divided in float32. */
  private ReduceOp reduction(DType type) {
    return byRanks || isHalf(type) ? ReduceOp.AVG : ReduceOp.SUM;
  }

  private static boolean isHalf(DType type) {
    return type == DType.FLOAT16 || type == DType.BFLOAT16;
  }

  private void divide(Tensor tensor) {
    if (byRanks) {
      return;
    }
    if (isHalf(tensor.dtype())) {
      TensorArithmetic.multiply(tensor, group.size() / divisor);
    } else {
      TensorArithmetic.divide(tensor, divisor);
    }
  }
}
