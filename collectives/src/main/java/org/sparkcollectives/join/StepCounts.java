package org.sparkcollectives.join;

import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * What the ranks of a group tell each other about one step: how many still have rows, whether they
 * synchronise their gradients, and how many rows they have. One all-reduce of 24 bytes.
 *
 * <p>May be used by any thread. Each getter waits until all ranks have begun the step, for the
 * group's timeout at the most.
 */
public final class StepCounts {

  private final double[] sums;
  private final Work work;

  private StepCounts(double[] sums, Work work) {
    this.sums = sums;
    this.work = work;
  }

  /**
   * Tells the other ranks about this rank's step, without waiting for them. A collective: called by
   * all ranks, those without rows included.
   *
   * @param active whether this rank still has rows
   * @param synchronises whether this rank averages the gradients of this step
   * @param rows how many rows this rank has in this step; 0 if it has none
   */
  public static StepCounts begin(
      ProcessGroup group, boolean active, boolean synchronises, double rows) {
    double[] sums = {active ? 1 : 0, active && synchronises ? 1 : 0, rows};
    return new StepCounts(sums, group.allReduce(Tensor.of(sums), ReduceOp.SUM));
  }

  /** Returns whether all ranks have begun the step, so that no getter waits. */
  public boolean isKnown() {
    return work.isCompleted();
  }

  /** Returns how many ranks still have rows. */
  public int active() {
    work.await();
    return (int) sums[0];
  }

  /** Returns whether any rank averages the gradients of this step. */
  public boolean synchronises() {
    work.await();
    return sums[1] > 0;
  }

  /** Returns how many rows all ranks have in this step. */
  public double rows() {
    work.await();
    return sums[2];
  }
}
