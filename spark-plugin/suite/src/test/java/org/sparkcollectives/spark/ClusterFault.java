package org.sparkcollectives.spark;

import org.sparkcollectives.Failure;

/** A fault of one rank of a barrier stage, the victim. */
enum ClusterFault {
  /** The victim's code throws. */
  EXCEPTION("exception"),
  /** The victim's task succeeds while others continue. */
  EARLY_RETURN("early return"),
  /** The driver kills the victim's task. */
  TASK_KILL("task kill"),
  /** The victim's executor is killed. */
  EXECUTOR_KILL("executor kill -9"),
  /** The victim's executor is stopped. */
  EXECUTOR_STOP("executor kill -STOP"),
  /** The victim is busy in its own code for longer than the others' deadline. */
  SLOW("slow rank"),
  /** The driver cancels the stage: all ranks are victims. */
  CANCEL("cancelled stage");

  private final String label;

  ClusterFault(String label) {
    this.label = label;
  }

  /** Returns the name in messages. */
  String label() {
    return label;
  }

  /** Returns whether the victim causes the fault itself; otherwise the driver does. */
  boolean isOwn() {
    return this == EXCEPTION || this == EARLY_RETURN || this == SLOW;
  }

  /** Returns whether the fault hits all ranks of the victim's executor. */
  boolean hitsExecutor() {
    return this == EXECUTOR_KILL || this == EXECUTOR_STOP;
  }

  /** Returns whether the others may report the fault as this kind. */
  boolean mayBeCalled(Failure.Kind kind) {
    return switch (this) {
      case EXCEPTION -> kind == Failure.Kind.EXCEPTION;
      case EARLY_RETURN -> kind == Failure.Kind.PEER_FINISHED;
      case TASK_KILL -> kind == Failure.Kind.KILLED;
      // Unresponsive if nobody is connected to it yet.
      case EXECUTOR_KILL ->
          kind == Failure.Kind.EXECUTOR_LOST
              || kind == Failure.Kind.CONNECTION_RESET
              || kind == Failure.Kind.UNRESPONSIVE;
      case EXECUTOR_STOP -> kind == Failure.Kind.UNRESPONSIVE;
      case SLOW -> kind == Failure.Kind.TIMEOUT;
      case CANCEL -> kind == Failure.Kind.KILLED || kind == Failure.Kind.STAGE_STOPPED;
    };
  }

  /**
   * Returns a part of the job's error, if that is not the error of a rank which says {@code rank
   * n}.
   */
  String words() {
    return switch (this) {
      case EXCEPTION -> "what the victim has thrown";
      case EARLY_RETURN -> "has finished";
      case TASK_KILL -> "killed by the suite";
      case EXECUTOR_KILL -> "ExecutorLostFailure";
      case EXECUTOR_STOP -> "is unresponsive";
      case SLOW -> "timed out";
      case CANCEL -> "cancelled";
    };
  }
}
