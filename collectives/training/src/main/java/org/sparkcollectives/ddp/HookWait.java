package org.sparkcollectives.ddp;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.store.Deadline;

/**
 * Waits for the future of a communication hook. Ends when the future or the group has ended, or a
 * deadline is over: a future may belong to code that knows nothing of the group.
 */
final class HookWait {

  /** How long a hook may take to say itself why, when its own rank has ended the group. */
  private static final Duration PATIENCE = Duration.ofMillis(200);

  private HookWait() {}

  /**
   * Returns the result of a future. Where the wait is interrupted or too long, it aborts the group.
   *
   * @param what is waited for, for messages
   * @throws ExecutionException if the future fails
   * @throws PeerFailedException if the group fails on another rank
   * @throws CollectiveException if the group fails on this rank, the deadline is over, or this
   *     thread is interrupted
   */
  static <T> T result(
      ProcessGroup group, CompletableFuture<T> future, Deadline deadline, String what)
      throws ExecutionException {
    Deadline patience = null;
    try {
      while (true) {
        try {
          return future.get(
              Deadline.smaller(GroupEnd.LOOK_AFTER, deadline.left()).toNanos(),
              TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
          if (group.isFailed() && patience == null) {
            patience = Deadline.after(PATIENCE);
          }
          requireGroup(group, patience, what);
          requireTime(group, deadline, what);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      group.abort(e);
      throw new CollectiveException(what + " was interrupted", e);
    }
  }

  private static void requireGroup(ProcessGroup group, Deadline patience, String what) {
    CollectiveException ended = GroupEnd.of(group, what);
    if (ended instanceof PeerFailedException
        || (ended != null && patience != null && patience.isOver())) {
      throw ended;
    }
  }

  private static void requireTime(ProcessGroup group, Deadline deadline, String what) {
    if (deadline.isOver()) {
      CollectiveException late =
          new CollectiveException(what + " was not done within " + deadline.total());
      group.abort(late);
      throw late;
    }
  }
}
