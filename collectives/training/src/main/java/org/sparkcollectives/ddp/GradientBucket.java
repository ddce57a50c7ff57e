package org.sparkcollectives.ddp;

import java.util.List;
import java.util.concurrent.Executor;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Holds several gradients that are averaged together, for a {@link CommHook}: c10d's {@code
 * GradBucket}. It is valid until the step of the hook's call has finished.
 */
public interface GradientBucket {

  /** Returns its position; buckets are reduced in this order, on every rank. */
  int index();

  /** Returns whether it is the last bucket of the step. */
  boolean isLast();

  /** Returns the number of the step, from 0; steps without synchronisation do not count. */
  long step();

  /**
   * Returns what the sum of all ranks is to be divided by: the number of ranks, or that of those
   * which still have rows. For a mean over rows, the buffer is multiplied beforehand by this rank's
   * rows, relative to those that a rank has on average.
   */
  double divisor();

  /** Returns the reducer's own group, in which the hook may run any collectives. */
  ProcessGroup group();

  /**
   * Returns the executor for a hook's work on a result, such as to convert a sum. The buckets of a
   * reducer have a thread of the reducer for it, which runs one task after the other; tasks must
   * not wait for each other. Pass it to {@code thenApplyAsync}: a slow {@code thenApply} runs on
   * the thread of the group's operations, and would delay the next bucket. By default, as in a
   * bucket of another implementation, a task runs at once, on the thread that gives it.
   */
  default Executor executor() {
    return Runnable::run;
  }

  /** Returns the gradients one after the other: one tensor of one dimension. */
  Tensor buffer();

  /** Replaces the buffer by one of the same type and count. */
  void setBuffer(Tensor buffer);

  /** Returns the gradients, as views of {@link #buffer()} with the shapes of their parameters. */
  List<Tensor> gradients();

  /** Returns which parameters these are, by their positions in the reducer's list. */
  int[] parameters();

  /** Returns the values of these parameters. */
  List<Tensor> values();
}
