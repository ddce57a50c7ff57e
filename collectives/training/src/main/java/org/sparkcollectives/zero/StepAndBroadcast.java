package org.sparkcollectives.zero;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.CommHook;
import org.sparkcollectives.ddp.CommHooks;
import org.sparkcollectives.ddp.GradientBucket;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.spi.tensor.TensorView;

/**
 * Updates the parameters of a bucket on their owners as soon as another hook has reduced it, and
 * sends their values to all ranks in the reducer's group.
 */
final class StepAndBroadcast implements CommHook {

  private final CommHook steps;
  private final List<Parameter> parameters;
  private final ZeroPartition partition;
  private final int[] globalRanks;

  /** The parameters of this step's buckets so far; those of a whole step must be all. */
  private final BitSet seen = new BitSet();

  private long step = -1;

  /**
   * Creates a hook.
   *
   * @param group the optimizer's: the reducer's must have the same ranks in the same order
   */
  StepAndBroadcast(
      CommHook inner,
      List<Parameter> parameters,
      ZeroPartition partition,
      LocalOptimizer local,
      ProcessGroup group) {
    int rank = group.rank();
    this.steps = CommHooks.thenStep(inner, i -> partition.owner(i) == rank, local::step);
    this.parameters = parameters;
    this.partition = partition;
    this.globalRanks = group.globalRanks();
  }

  @Override
  public CompletableFuture<Tensor> run(GradientBucket bucket) {
    requireSameRanks(bucket.group());
    requireSameParameters(bucket);
    CompletableFuture<Tensor> reduced = steps.run(bucket);
    int[] positions = bucket.parameters();
    List<Tensor> values = bucket.values();
    CompletableFuture<?>[] sent = new CompletableFuture<?>[positions.length];
    for (int i = 0; i < sent.length; i++) {
      sent[i] = bucket.group().broadcast(values.get(i), partition.owner(positions[i])).future();
    }
    return CompletableFuture.allOf(sent).thenCombine(reduced, (done, gradients) -> gradients);
  }

  private void requireSameRanks(ProcessGroup group) {
    if (!Arrays.equals(group.globalRanks(), globalRanks)) {
      throw new IllegalArgumentException(
          "the reducer has the global ranks "
              + Arrays.toString(group.globalRanks())
              + " and the optimizer "
              + Arrays.toString(globalRanks)
              + "; create both in the same group, and both anew after a shrink");
    }
  }

  private void requireSameParameters(GradientBucket bucket) {
    if (bucket.step() != step) {
      if (step >= 0) {
        requireAllSeen();
      }
      step = bucket.step();
      seen.clear();
    }
    int[] positions = bucket.parameters();
    List<Tensor> values = bucket.values();
    for (int i = 0; i < positions.length; i++) {
      requireSame(positions[i], values.get(i));
      seen.set(positions[i]);
    }
    if (bucket.isLast()) {
      requireAllSeen();
    }
  }

  private void requireSame(int position, Tensor there) {
    Tensor here = position < parameters.size() ? parameters.get(position).value() : null;
    boolean same =
        here != null
            && here.dtype() == there.dtype()
            && here.count() == there.count()
            && (here.count() == 0 || TensorView.of(here).isSameMemoryAs(TensorView.of(there)));
    if (!same) {
      throw new IllegalArgumentException(
          "parameter "
              + position
              + " of the reducer, "
              + there
              + ", is not the optimizer's, "
              + (here == null ? "which has fewer" : here)
              + "; give both the same list of parameters");
    }
  }

  private void requireAllSeen() {
    int missing = seen.nextClearBit(0);
    if (missing < parameters.size()) {
      throw new IllegalArgumentException(
          "parameter "
              + parameters.get(missing).name()
              + " of the optimizer is in no bucket of the reducer, or its gradients are sparse"
              + " there; give both the same list of dense parameters");
    }
  }
}
