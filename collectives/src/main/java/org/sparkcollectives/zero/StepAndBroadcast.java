package org.sparkcollectives.zero;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.CommHook;
import org.sparkcollectives.ddp.CommHooks;
import org.sparkcollectives.ddp.GradientBucket;
import org.sparkcollectives.ddp.Parameter;

/**
 * Updates the parameters of a bucket on their owners as soon as another hook has reduced it, and
 * sends their values to all ranks in the reducer's group.
 */
final class StepAndBroadcast implements CommHook {

  private final CommHook steps;
  private final List<Parameter> parameters;
  private final ZeroPartition partition;

  StepAndBroadcast(
      CommHook inner,
      List<Parameter> parameters,
      ZeroPartition partition,
      LocalOptimizer local,
      int rank) {
    this.steps = CommHooks.thenStep(inner, i -> partition.owner(i) == rank, local::step);
    this.parameters = parameters;
    this.partition = partition;
  }

  @Override
  public CompletableFuture<Tensor> run(GradientBucket bucket) {
    requireSameModel(bucket);
    CompletableFuture<Tensor> reduced = steps.run(bucket);
    int[] positions = bucket.parameters();
    List<Tensor> values = bucket.values();
    CompletableFuture<?>[] sent = new CompletableFuture<?>[positions.length];
    for (int i = 0; i < sent.length; i++) {
      sent[i] = bucket.group().broadcast(values.get(i), partition.owner(positions[i])).future();
    }
    return CompletableFuture.allOf(sent).thenCombine(reduced, (done, gradients) -> gradients);
  }

  /** Checks that the reducer has the optimizer's ranks and parameters. */
  private void requireSameModel(GradientBucket bucket) {
    ProcessGroup group = bucket.group();
    if (group.size() != partition.ranks()) {
      throw new IllegalArgumentException(
          "the reducer has "
              + group.size()
              + " ranks and the optimizer "
              + partition.ranks()
              + "; create both in the same group");
    }
    int[] positions = bucket.parameters();
    List<Tensor> values = bucket.values();
    for (int i = 0; i < positions.length; i++) {
      Tensor here = positions[i] < parameters.size() ? parameters.get(positions[i]).value() : null;
      Tensor there = values.get(i);
      if (here == null || here.dtype() != there.dtype() || here.count() != there.count()) {
        throw new IllegalArgumentException(
            "parameter "
                + positions[i]
                + " is "
                + there
                + " in the reducer and "
                + (here == null ? "missing" : here)
                + " in the optimizer; give both the same list of parameters");
      }
    }
  }
}
