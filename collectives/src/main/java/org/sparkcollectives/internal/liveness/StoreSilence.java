package org.sparkcollectives.internal.liveness;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.StoreTimeoutException;

/**
 * Remembers that the store of a rank did not answer, for all groups of the rank: those that are
 * closed soon after do not wait for it again. Thread-safe.
 */
public final class StoreSilence {

  /** How long a store that did not answer counts as silent: then the next call finds out again. */
  static final Duration BELIEVED = Duration.ofSeconds(10);

  /**
   * A call that got no answer.
   *
   * @param patience the time in which the store was to answer
   */
  private record Unanswered(long endNanos, Duration patience) {}

  private final TimeSource time;

  /** The last call, if it got no answer; else null. */
  private final AtomicReference<Unanswered> unanswered = new AtomicReference<>();

  /** Creates the memory of a rank, whose store has answered so far. */
  public StoreSilence(TimeSource time) {
    this.time = time;
  }

  /**
   * Calls the store, and notes whether it answers. Blocks for as long as the calls do, and throws
   * what they throw.
   *
   * @param patience the time in which the store is to answer
   * @param calls which end by the deadline that they are given
   */
  public void observe(Duration patience, Consumer<Deadline> calls) {
    try {
      calls.accept(Deadline.after(patience));
      unanswered.set(null);
    } catch (StoreConnectionException | StoreTimeoutException e) {
      unanswered.set(new Unanswered(time.nanos(), patience));
      throw e;
    }
  }

  /**
   * Returns whether the store did not answer the last call, a short time ago, although that waited
   * for as long as {@code patience} or longer. Does not block.
   */
  public boolean isSilent(Duration patience) {
    Unanswered last = unanswered.get();
    return last != null
        && last.patience().compareTo(patience) >= 0
        && time.nanos() - last.endNanos() < BELIEVED.toNanos();
  }
}
