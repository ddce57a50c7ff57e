package org.sparkcollectives.spi;

import java.time.Duration;

/**
 * Choices of the code that hosts a rank, which no user needs to make: see {@link
 * RankContext#tuning}. All ranks of a group must have the same {@link #stripeBytes}; the rendezvous
 * refuses others.
 *
 * @param spin how long a thread that waits in a collective spins before it sleeps. It does not spin
 *     if a host has more ranks than processors, or if the last waits were long
 * @param stripeBytes how many bytes of a collective each of several connections to a peer gets at
 *     least
 */
public record RankTuning(Duration spin, long stripeBytes) {

  /** The choices for a rank that is a thread of its own. */
  public static final RankTuning DEFAULT = new RankTuning(Duration.ofNanos(200_000), 1L << 20);

  /** Returns these choices with another time to spin. */
  public RankTuning withSpin(Duration value) {
    return new RankTuning(value, stripeBytes);
  }

  /** Returns these choices with another size of stripes. */
  public RankTuning withStripeBytes(long value) {
    return new RankTuning(spin, value);
  }
}
