package org.sparkcollectives.internal.failure;

import java.time.Duration;
import org.sparkcollectives.Work;
import org.sparkcollectives.internal.liveness.LeaveTracker;

/**
 * The work of one operation, as the code that monitors its group sees it. Apart from its
 * implementation, so that what ends groups does not depend on how works run and wait.
 */
public abstract class MonitoredWork implements Work {

  /** Returns the operation as messages name it. */
  public abstract String describe();

  /** Ends the work, unless it has ended. */
  public abstract void complete(Throwable cause);

  public abstract boolean isOverdue(long nowNanos);

  /** Returns for how long the work has been pending. */
  public abstract long ageNanos(long nowNanos);

  /**
   * Returns the timeout that the user has set for the call of which this is all or a part, with its
   * extension.
   */
  public abstract Duration statedTimeout();

  /** Ends the work if the group has failed and no thread runs the work that would notice. */
  public abstract void groupFailed();

  /** Returns the rank that has left without doing its part in this work, or -1. */
  public abstract int departedPeer(LeaveTracker left);

  /** Returns the rank that has not come, as far as an overdue work knows that by itself, or -1. */
  protected int lateRank() {
    return -1;
  }

  /** Returns what an overdue work knows by itself of the missing ranks. */
  protected abstract String missingRanks();
}
