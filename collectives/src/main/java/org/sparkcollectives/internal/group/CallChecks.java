package org.sparkcollectives.internal.group;

import java.util.function.Supplier;

/** Refuses a wrong call with a message that names the operation, the group and the rank. */
abstract class CallChecks {

  final String group;
  final int rank;
  final int size;

  CallChecks(String group, int rank, int size) {
    this.group = group;
    this.rank = rank;
    this.size = size;
  }

  final void require(boolean holds, String operation, String what) {
    if (!holds) {
      throw refused(operation, what);
    }
  }

  /** Refuses a call unless {@code holds}. Builds the message only when it is needed. */
  final void require(boolean holds, String operation, Supplier<String> what) {
    if (!holds) {
      throw refused(operation, what.get());
    }
  }

  final IllegalArgumentException refused(String operation, String what) {
    return new IllegalArgumentException(
        operation + " of group \"" + group + "\" on rank " + rank + " of " + size + ": " + what);
  }
}
