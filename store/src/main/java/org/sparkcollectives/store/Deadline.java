package org.sparkcollectives.store;

import java.time.Duration;

/**
 * The moment by which a call of several steps must be over. Immutable; may be used by any number of
 * threads.
 */
public final class Deadline {

  private static final Duration SHORTEST = Duration.ofMillis(1);

  /** A long holds 292 years of nanoseconds; half of that is safe for differences. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private final Duration total;
  private final long endNanos;

  private Deadline(Duration total) {
    this.total = total;
    this.endNanos = System.nanoTime() + (total.compareTo(LONGEST) < 0 ? total : LONGEST).toNanos();
  }

  /** Creates a deadline that passes when {@code total} is over, counted from now. */
  public static Deadline after(Duration total) {
    return new Deadline(total);
  }

  /** Returns the smaller of two durations. */
  public static Duration smaller(Duration one, Duration other) {
    return one.compareTo(other) <= 0 ? one : other;
  }

  /** Returns the time that the deadline gave at its start. */
  public Duration total() {
    return total;
  }

  /** Returns whether the deadline has passed. */
  public boolean isOver() {
    return endNanos - System.nanoTime() <= 0;
  }

  /**
   * Returns how much time is left. If none is left, returns one millisecond: a step that begins too
   * late then times out by itself, as one that began in time does.
   */
  public Duration left() {
    long nanos = endNanos - System.nanoTime();
    return nanos > SHORTEST.toNanos() ? Duration.ofNanos(nanos) : SHORTEST;
  }

  /**
   * Returns a view of {@code store} whose calls end by this deadline, or at the store's own timeout
   * if that is earlier. If the store does not answer at all, they end at most a second after the
   * deadline. In a store of a kind that this library does not know, each call is given the time
   * that is left at this moment.
   */
  public Store bound(Store store) {
    if (store instanceof AbstractStore known) {
      return new DeadlineView(known, this);
    }
    if (store instanceof PrefixStore prefixed) {
      return prefixed.over(bound(prefixed.underlyingStore()));
    }
    return store.withTimeout(smaller(left(), store.timeout()));
  }

  @Override
  public String toString() {
    return total + " from the beginning of the call";
  }
}
