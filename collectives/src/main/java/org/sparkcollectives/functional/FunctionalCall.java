package org.sparkcollectives.functional;

import java.util.function.Supplier;
import org.sparkcollectives.ProcessGroup;

/**
 * A call of a functional collective, for messages.
 *
 * @param group the group
 * @param operation what was called
 */
record FunctionalCall(ProcessGroup group, String operation) {

  /** Refuses the call unless {@code holds}. */
  void require(boolean holds, Supplier<String> what) {
    if (!holds) {
      throw new IllegalArgumentException(
          operation
              + " of group \""
              + group.name()
              + "\" on rank "
              + group.rank()
              + " of "
              + group.size()
              + ": "
              + what.get());
    }
  }
}
