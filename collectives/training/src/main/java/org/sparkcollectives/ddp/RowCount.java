package org.sparkcollectives.ddp;

import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.join.JoinStep;

/** The rows of all ranks in one step, which become known while the ranks compute. */
final class RowCount {

  private final BooleanSupplier known;
  private final DoubleSupplier rows;

  private RowCount(BooleanSupplier known, DoubleSupplier rows) {
    this.known = known;
    this.rows = rows;
  }

  /** Tells the other ranks how many rows this one has, by an all-reduce of 8 bytes. */
  static RowCount begin(ProcessGroup group, double own) {
    double[] sum = {own};
    Work work = group.allReduce(Tensor.of(sum), ReduceOp.SUM);
    return new RowCount(
        work::isCompleted,
        () -> {
          work.await();
          return sum[0];
        });
  }

  /** Returns the count that the ranks exchange at the beginning of each step of a join. */
  static RowCount of(JoinStep join, double own) {
    return new RowCount(
        join::isKnown,
        () -> {
          double all = join.rows();
          if (all < own) {
            throw new IllegalStateException(
                "The ranks of a join have "
                    + all
                    + " rows, less than this one's "
                    + own
                    + ": give the reducer to Join.run as the first joinable");
          }
          return all;
        });
  }

  boolean isKnown() {
    return known.getAsBoolean();
  }

  /** Returns the rows of all ranks; waits for them, for the group's timeout at the most. */
  double get() {
    return rows.getAsDouble();
  }
}
