package org.sparkcollectives.ddp;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.IntPredicate;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.store.Deadline;

/** Updates the parameters of a bucket as soon as another hook has reduced it. */
final class StepAfterReduction implements CommHook {

  private final CommHook inner;
  private final IntPredicate parameters;
  private final ParameterStep step;

  StepAfterReduction(CommHook inner, IntPredicate parameters, ParameterStep step) {
    this.inner = Objects.requireNonNull(inner, "inner hook");
    this.parameters = Objects.requireNonNull(parameters, "parameters");
    this.step = Objects.requireNonNull(step, "step");
  }

  /**
   * Waits for the reduction here, and not in a dependent of its future: that would run the user's
   * code on a thread which the group's next collective needs.
   */
  @Override
  public CompletableFuture<Tensor> run(GradientBucket bucket) {
    Tensor reduced = ConvertedBucket.check(bucket, await(inner.run(bucket), bucket));
    List<Tensor> gradients = ConvertedBucket.views(bucket, reduced);
    List<Tensor> values = bucket.values();
    int[] indices = bucket.parameters();
    for (int i = 0; i < indices.length; i++) {
      if (parameters.test(indices[i])) {
        step.step(indices[i], values.get(i), gradients.get(i));
      }
    }
    return CompletableFuture.completedFuture(reduced);
  }

  /**
   * Waits until the reduction or its group has ended. Collectives end within the group's timeout;
   * other code of the inner hook gets as long again.
   */
  private static Tensor await(CompletableFuture<Tensor> reduction, GradientBucket bucket) {
    ProcessGroup group = bucket.group();
    String what =
        "The reduction of bucket "
            + bucket.index()
            + " on rank "
            + group.rank()
            + ", before its parameters are updated,";
    try {
      return HookWait.result(
          group, reduction, Deadline.after(group.timeout().multipliedBy(2)), what);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException thrown
          ? thrown
          : new CollectiveException(what + " failed: " + e.getCause(), e.getCause());
    }
  }
}
