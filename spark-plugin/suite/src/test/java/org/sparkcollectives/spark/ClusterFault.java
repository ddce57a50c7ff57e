package org.sparkcollectives.spark;

import org.sparkcollectives.Failure;

/** What goes wrong with one rank of a barrier stage, the victim. */
enum ClusterFault {
  /** Its code throws. */
  EXCEPTION("exception"),
  /** Its task ends well while others go on. */
  EARLY_RETURN("early return"),
  /** The driver kills its task. */
  TASK_KILL("task kill"),
  /** Its executor is killed. */
  EXECUTOR_KILL("executor kill -9"),
  /** Its executor stands still. */
  EXECUTOR_STOP("executor kill -STOP"),
  /** It is busy in its own code for longer than the others' deadline. */
  SLOW("slow rank"),
  /** The driver cancels the stage: all ranks are victims. */
  CANCEL("cancelled stage");

  private final String label;

  ClusterFault(String label) {
    this.label = label;
  }

  /** As messages have it. */
  String label() {
    return label;
  }

  /** Whether the victim does it itself; else the driver does it. */
  boolean isOwn() {
    return this == EXCEPTION || this == EARLY_RETURN || this == SLOW;
  }

  /** Whether all ranks of the victim's executor are hit. */
  boolean hitsExecutor() {
    return this == EXECUTOR_KILL || this == EXECUTOR_STOP;
  }

  /** Whether the others may call it that. */
  boolean mayBeCalled(Failure.Kind kind) {
    return switch (this) {
      case EXCEPTION -> kind == Failure.Kind.EXCEPTION;
      case EARLY_RETURN -> kind == Failure.Kind.PEER_FINISHED;
      case TASK_KILL -> kind == Failure.Kind.KILLED;
      // Silent where nobody is connected to it yet.
      case EXECUTOR_KILL ->
          kind == Failure.Kind.EXECUTOR_LOST
              || kind == Failure.Kind.CONNECTION_RESET
              || kind == Failure.Kind.UNRESPONSIVE;
      case EXECUTOR_STOP -> kind == Failure.Kind.UNRESPONSIVE;
      case SLOW -> kind == Failure.Kind.TIMEOUT;
      case CANCEL -> kind == Failure.Kind.KILLED || kind == Failure.Kind.STAGE_STOPPED;
    };
  }

  /** What the error of the job says, if it is not that of a rank which says {@code rank n}. */
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
