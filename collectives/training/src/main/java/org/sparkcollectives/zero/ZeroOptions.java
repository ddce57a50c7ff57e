package org.sparkcollectives.zero;

import java.util.Objects;
import java.util.Optional;
import java.util.function.IntFunction;
import org.sparkcollectives.Tensor;

/** The options of a {@link ZeroRedundancyOptimizer}; immutable. All ranks choose the same. */
public final class ZeroOptions {

  private static final ZeroOptions DEFAULTS = new ZeroOptions(null, false, null);

  private final IntFunction<Tensor> averaged;
  private final boolean stepsInHook;
  private final ZeroPartition partition;

  private ZeroOptions(IntFunction<Tensor> averaged, boolean stepsInHook, ZeroPartition partition) {
    this.averaged = averaged;
    this.stepsInHook = stepsInHook;
    this.partition = partition;
  }

  /**
   * Returns the defaults: the optimizer averages the gradients itself, each for its owner only, and
   * the partition is {@link ZeroPartition#greedy(long[], int)}.
   */
  public static ZeroOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Returns these options with gradients that are averaged already, such as those of a reducer. A
   * step then sends the values only.
   *
   * @param gradients returns the averaged gradient of a parameter when a step is made, or null for
   *     a parameter that gets no step, on all ranks alike. Called for the parameters that this rank
   *     owns
   */
  public ZeroOptions withAveragedGradients(IntFunction<Tensor> gradients) {
    return new ZeroOptions(Objects.requireNonNull(gradients, "gradients"), false, partition);
  }

  /**
   * Returns these options with steps that a reducer makes, by {@link ZeroRedundancyOptimizer#hook},
   * while the backward pass goes on. The optimizer then has no {@link
   * ZeroRedundancyOptimizer#step}, takes no memory for gradients and values, and is in no join: the
   * reducer is.
   */
  public ZeroOptions withStepsInHook() {
    return new ZeroOptions(null, true, partition);
  }

  /** Returns these options with a partition of one's own. */
  public ZeroOptions withPartition(ZeroPartition owners) {
    return new ZeroOptions(averaged, stepsInHook, Objects.requireNonNull(owners, "owners"));
  }

  /** Returns what gives the averaged gradients; empty if the optimizer averages them. */
  public Optional<IntFunction<Tensor>> averagedGradients() {
    return Optional.ofNullable(averaged);
  }

  /** Returns whether a reducer makes the steps, see {@link #withStepsInHook}. */
  public boolean stepsInHook() {
    return stepsInHook;
  }

  /** Returns the partition that was chosen. */
  public Optional<ZeroPartition> partition() {
    return Optional.ofNullable(partition);
  }
}
