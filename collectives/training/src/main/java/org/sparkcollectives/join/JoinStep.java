package org.sparkcollectives.join;

import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * Says of one step of a join how many ranks still have rows, whether they synchronise in this step,
 * and how many rows it is on. {@link Join#notifyStep} begins it, with one all-reduce of 24 bytes.
 *
 * <p>All methods but {@link #isKnown()} block until the ranks have told each other, for the group's
 * timeout at the most, and throw {@link org.sparkcollectives.CollectiveException} if the group has
 * failed. May be used from any thread.
 */
public final class JoinStep {

  private static final int ACTIVE = 0;
  private static final int SYNCHRONISING = 1;
  private static final int ROWS = 2;

  private final ProcessGroup group;
  private final JoinOptions options;
  private final double[] sums;
  private final Work work;

  private JoinStep(ProcessGroup group, JoinOptions options, double... given) {
    this.group = group;
    this.options = options;
    this.sums = given;
    this.work = group.allReduce(Tensor.of(sums), ReduceOp.SUM);
  }

  /** Begins the step of a rank that has rows. */
  static JoinStep active(
      ProcessGroup group, JoinOptions options, boolean synchronises, double rows) {
    return new JoinStep(group, options, 1, synchronises ? 1 : 0, rows);
  }

  /** Begins the step of a rank that has none. */
  static JoinStep joined(ProcessGroup group, JoinOptions options) {
    return new JoinStep(group, options, 0, 0, 0);
  }

  /** Returns whether the ranks have told each other, so that no method blocks. */
  public boolean isKnown() {
    return work.isCompleted();
  }

  /** Returns how many ranks still have rows. */
  public int activeRanks() {
    return (int) sum(ACTIVE);
  }

  /**
   * Returns whether the ranks with rows synchronise in this step, and do not only accumulate
   * gradients.
   *
   * @throws CollectiveMismatchException on all ranks, if some of them do and some do not
   */
  public boolean synchronises() {
    int synchronising = (int) sum(SYNCHRONISING);
    if (synchronising != 0 && synchronising != activeRanks()) {
      throw new CollectiveMismatchException(
          "Step in a join of group \""
              + group.name()
              + "\" on rank "
              + group.rank()
              + " of "
              + group.size()
              + ": "
              + synchronising
              + " of the "
              + activeRanks()
              + " ranks with rows synchronise, and the others do not; all must pause"
              + " synchronisation in the same steps");
    }
    return synchronising != 0;
  }

  /** Returns the rows of all ranks in this step, as they were given to {@link Join#notifyStep}. */
  public double rows() {
    return sum(ROWS);
  }

  /**
   * Returns what a sum over the ranks is to be divided by: the number of all ranks, or of those
   * that still have rows, as {@link JoinOptions#divideByInitialSize} says.
   */
  public int divisor() {
    return options.divideByInitialSize() ? group.size() : activeRanks();
  }

  private double sum(int index) {
    work.await();
    return sums[index];
  }
}
