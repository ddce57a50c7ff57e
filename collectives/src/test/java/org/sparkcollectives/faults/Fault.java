package org.sparkcollectives.faults;

import org.sparkcollectives.Failure;

/** A fault of one rank, the victim. */
enum Fault {
  /** Its code throws, and the group is aborted with that. */
  EXCEPTION("exception"),
  /** It closes the group while others go on. */
  EARLY_RETURN("early return"),
  /** Its process is killed. */
  KILL("kill -9"),
  /** Its process hangs, until the others have noticed. */
  STOP("kill -STOP"),
  /** Its connections break. */
  RESET("connection reset"),
  /** What it sends, and what is sent to it, is dropped; no connection breaks. */
  PARTITION("partition"),
  /** It is busy in its own code for longer than the others' deadline. */
  SLOW("slow rank");

  private final String label;

  Fault(String label) {
    this.label = label;
  }

  /** Returns the name in tables. */
  String label() {
    return label;
  }

  /** Returns whether the others may report it as this kind. */
  boolean mayBeCalled(Failure.Kind kind) {
    return switch (this) {
      case EXCEPTION -> kind == Failure.Kind.EXCEPTION;
      case EARLY_RETURN -> kind == Failure.Kind.PEER_FINISHED;
      // Unresponsive where nobody is connected to it yet.
      case KILL ->
          kind == Failure.Kind.CONNECTION_RESET
              || kind == Failure.Kind.EXECUTOR_LOST
              || kind == Failure.Kind.UNRESPONSIVE;
      case STOP -> kind == Failure.Kind.UNRESPONSIVE;
      // The systems of its peers ask whether it is there, too, and one may be the first to miss it.
      case PARTITION -> kind == Failure.Kind.UNRESPONSIVE || kind == Failure.Kind.CONNECTION_RESET;
      case RESET -> kind == Failure.Kind.CONNECTION_RESET;
      case SLOW -> kind == Failure.Kind.TIMEOUT;
    };
  }

  /** Returns whether the victim causes it itself. */
  boolean isOwn() {
    return this == EXCEPTION || this == EARLY_RETURN || this == SLOW;
  }

  /** Returns whether the connections of the ranks lead through {@link FaultyNetwork}. */
  boolean isOfNetwork() {
    return this == RESET || this == PARTITION;
  }
}
