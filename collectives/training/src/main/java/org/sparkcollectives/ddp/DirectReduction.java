package org.sparkcollectives.ddp;

import java.util.function.Supplier;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/** Reduces each bucket by one all-reduce. Needs no thread. */
final class DirectReduction implements BucketReduction {

  private final ProcessGroup group;

  DirectReduction(ProcessGroup group) {
    this.group = group;
  }

  @Override
  public Runnable begin(ReducerBucket bucket, GradientMean mean) {
    if (bucket.isSparse()) {
      return sparse(group, bucket, mean);
    }
    boolean flagged = bucket.isLast() && mean.keepsFlag();
    Tensor reduced = flagged ? bucket.withFlag() : bucket.reduced();
    Work work = bucket.allReduce(reduced, mean.reduction(reduced.dtype()));
    return () -> {
      work.await();
      mean.finish(bucket.reduced());
    };
  }

  /** Begins the all-reduce of a sparse gradient, for which the bucket then has the mean. */
  static Runnable sparse(ProcessGroup group, ReducerBucket bucket, GradientMean mean) {
    DType type = bucket.sparse().values().dtype();
    Work work = group.allReduce(mean.contribution(bucket.sparse()));
    return () -> {
      work.await();
      bucket.setSparse(mean.finish(work.sparseResult(), type));
    };
  }

  @Override
  public <T> T afterwards(Supplier<T> call) {
    return call.get();
  }

  @Override
  public boolean mayFailAlone() {
    return false;
  }

  @Override
  public void close() {}
}
