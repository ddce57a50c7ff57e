package org.sparkcollectives.store;

import java.time.Duration;

/**
 * The moment by which a call of several steps is to be over. Immutable; may be used by any number
 * of threads.
 */
public final class Deadline {

  private static final Duration SHORTEST = Duration.ofMillis(1);

  /** 292 years are a long's nanoseconds; half of that is safe for differences. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private final Duration total;
  private final long endNanos;

  private Deadline(Duration total) {
    this.total = total;
    this.endNanos = System.nanoTime() + (total.compareTo(LONGEST) < 0 ? total : LONGEST).toNanos();
  }

  /** The moment that comes when {@code total} is over from now on. */
  public static Deadline after(Duration total) {
    return new Deadline(total);
  }

  /** The smaller of two durations. */
  public static Duration smaller(Duration one, Duration other) {
    return one.compareTo(other) <= 0 ? one : other;
  }

  /** How much time there was in the beginning. */
  public Duration total() {
    return total;
  }

  /** Whether the moment has passed. */
  public boolean isOver() {
    return endNanos - System.nanoTime() <= 0;
  }

  /**
   * How much time is left: one millisecond even if there is none, so that a step that is begun then
   * fails by itself, as one that was begun in time does.
   */
  public Duration left() {
    long nanos = endNanos - System.nanoTime();
    return nanos > SHORTEST.toNanos() ? Duration.ofNanos(nanos) : SHORTEST;
  }

  /**
   * A view of {@code store} whose calls are over by this moment, or at the store's own timeout if
   * that is earlier. A store that does not answer at all is given up a second after it at the
   * latest. In a store of a kind that this library does not know, each call has the time that is
   * left now.
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
