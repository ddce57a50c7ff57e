package org.sparkcollectives.ddp;

import java.time.Duration;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.ProcessGroup;

/** Tells those who wait for something other than an operation that their group has failed. */
final class GroupEnd {

  /** How long a wait goes on before it looks whether the group has failed. */
  static final Duration LOOK_AFTER = Duration.ofMillis(20);

  private GroupEnd() {}

  /**
   * Returns what a wait throws in a failed group; null while the group works.
   *
   * @param what is waited for, for messages
   */
  static CollectiveException of(ProcessGroup group, String what) {
    Failure failure = group.failure().orElse(null);
    if (failure == null) {
      return null;
    }
    String ended =
        what
            + " was not done before the group failed: "
            + failure.where()
            + " "
            + failure.kind().verb()
            + ": "
            + failure.cause();
    return failure.rank() == group.rank()
        ? new CollectiveException(ended)
        : new PeerFailedException(ended, failure);
  }
}
