package org.sparkcollectives.transport;

import java.time.Duration;

/**
 * How long a thread that waits looks again and again before it sleeps.
 *
 * <p>First it spins, then it gives the processor to whoever wants it between its looks. The two
 * together must be longer than it takes to wake a thread: two ranks that wait for each other in
 * turn, and sleep, find back to looking only if each still looks when the other has woken up.
 *
 * @param spinNanos how long it spins
 * @param yieldNanos how long it yields after that; a few times in any case
 */
public record Patience(long spinNanos, long yieldNanos) {

  /** Of a thread that shares its processor with those for which it waits. */
  public static final Patience NONE = new Patience(0, 0);

  /** Of these times. */
  public static Patience of(Duration spin, Duration yield) {
    return new Patience(spin.toNanos(), yield.toNanos());
  }
}
