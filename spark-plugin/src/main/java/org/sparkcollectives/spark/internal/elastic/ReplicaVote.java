package org.sparkcollectives.spark.internal.elastic;

import java.time.Duration;
import java.util.function.Supplier;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/** The ranks of a replica, which find out together whether all have succeeded. Not thread-safe. */
public final class ReplicaVote {

  /**
   * What the ranks have voted, the same on all of them.
   *
   * @param allHaveSucceeded whether none has failed
   * @param waits whether one knows of a replica that waits
   * @param error whether one has been told of an error, for which the step is repeated
   */
  record Result(boolean allHaveSucceeded, boolean waits, boolean error) {}

  /** How many timeouts of the group a vote may take: connecting, moving a state, a late rank. */
  private static final int TIMEOUTS = 3;

  private final boolean isAlone;
  private final Supplier<ProcessGroup> maker;
  private ProcessGroup group;

  private ReplicaVote(boolean isAlone, Supplier<ProcessGroup> maker) {
    this.isAlone = isAlone;
    this.maker = maker;
  }

  /** Creates the vote of a replica's only rank, which needs no group for that. */
  public static ReplicaVote alone(Supplier<ProcessGroup> group) {
    return new ReplicaVote(true, group);
  }

  /**
   * Creates the vote of a replica's ranks. One of them may still wait in its own group for another
   * replica that does not respond, so a vote has a longer timeout than that.
   */
  public static ReplicaVote of(ProcessGroup ranks) {
    return new ReplicaVote(false, () -> ranks);
  }

  /** Returns how many ranks the replica has. */
  int size() {
    return isAlone ? 1 : group().size();
  }

  /** Returns the group of the ranks. */
  ProcessGroup group() {
    if (group == null) {
      group = maker.get();
    }
    return group;
  }

  /**
   * Takes a vote. Blocks until all ranks have voted, for three timeouts of the group at the most.
   *
   * @throws org.sparkcollectives.CollectiveException if one of them is lost
   */
  Result vote(boolean succeeded, boolean waits, boolean error) {
    if (isAlone) {
      return new Result(succeeded, waits, error);
    }
    int[] against = {succeeded ? 0 : 1, waits ? 1 : 0, error ? 1 : 0};
    Duration timeout = group().timeout().multipliedBy(TIMEOUTS);
    group().withTimeout(timeout).allReduce(Tensor.of(against), ReduceOp.MAX).await();
    return new Result(against[0] == 0, against[1] > 0, against[2] > 0);
  }
}
