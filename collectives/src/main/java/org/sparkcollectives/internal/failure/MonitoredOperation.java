package org.sparkcollectives.internal.failure;

import java.time.Duration;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.liveness.LeaveTracker;

/**
 * An operation that has begun, as the code that monitors its group sees it. Apart from its work, so
 * that what ends groups does not depend on how works run and wait.
 */
public interface MonitoredOperation {

  /** Returns what the operation is. */
  OpType opType();

  /** Returns the operation's number in its group. */
  long sequenceNumber();

  /** Returns the operation as messages name it. */
  String describe();

  /** Returns whether the operation is done, successfully or not. */
  boolean isCompleted();

  /** Ends the operation, unless it has ended. */
  void complete(Throwable cause);

  /** Returns whether the operation has been pending for longer than its timeout. */
  boolean isOverdue(long nowNanos);

  /** Returns for how long the operation has been pending. */
  long ageNanos(long nowNanos);

  /**
   * Returns the timeout that the user has set for the call of which this is all or a part, with its
   * extension.
   */
  Duration statedTimeout();

  /** Ends the operation if the group has failed and no thread runs what would notice. */
  void groupFailed();

  /** Returns the rank that has left without doing its part in this operation, or -1. */
  int departedPeer(LeaveTracker left);

  /** Returns the rank that has not come, as far as an overdue operation itself knows, or -1. */
  default int lateRank() {
    return -1;
  }

  /** Returns what an overdue operation itself knows of the missing ranks. */
  default String missingRanks() {
    return "which ranks have not arrived is not known";
  }
}
