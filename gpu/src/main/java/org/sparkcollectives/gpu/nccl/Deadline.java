package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.GroupAbortedException;

/** The time limit of an action, which also ends when nobody wants its result any more. */
final class Deadline {

  /** Says whether the result is no longer wanted. */
  interface Cancelled {
    boolean isCancelled();
  }

  /** Below the overflow of the clock's differences. */
  private static final Duration LONGEST = Duration.ofDays(10_000);

  private final long nanos;
  private final Duration timeout;
  private final Cancelled cancelled;

  private Deadline(long nanos, Duration timeout, Cancelled cancelled) {
    this.nanos = nanos;
    this.timeout = timeout;
    this.cancelled = cancelled;
  }

  static Deadline in(Duration timeout, Cancelled cancelled) {
    Duration bounded = timeout.compareTo(LONGEST) > 0 ? LONGEST : timeout;
    return new Deadline(System.nanoTime() + bounded.toNanos(), bounded, cancelled);
  }

  /** Creates a deadline that passes only when the result is no longer wanted. */
  static Deadline whileWanted(Cancelled cancelled) {
    return in(LONGEST, cancelled);
  }

  /** Returns the time that is left; never negative. */
  Duration left() {
    return Duration.ofNanos(Math.max(0, nanos - System.nanoTime()));
  }

  /**
   * Throws if the time is over, or nobody wants the result any more.
   *
   * @param what is waited for, such as {@code the communicator of "world"}
   */
  void check(String what) {
    if (cancelled.isCancelled()) {
      throw new GroupAbortedException(
          "The wait for " + what + " is over: the group has ended", null);
    }
    if (nanos - System.nanoTime() < 0) {
      throw new CollectiveTimeoutException(
          "The wait for " + what + " timed out after " + timeout.toMillis() / 1000.0 + " s",
          "communicator",
          -1,
          List.of());
    }
  }
}
