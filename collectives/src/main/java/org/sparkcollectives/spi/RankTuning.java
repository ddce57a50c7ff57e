package org.sparkcollectives.spi;

import java.time.Duration;

/**
 * Choices that what hosts a rank makes, and no user needs to: see {@link RankContext#tuning}. The
 * ranks of a group must have the same {@link #stripeBytes}.
 *
 * @param spin how long a thread that waits in a collective spins before it sleeps. It does not spin
 *     if a host has more ranks than processors, or if the last waits were long
 * @param sockets who reads and writes sockets that are not encrypted
 * @param stripeBytes how many bytes of a collective each of several connections to a peer gets at
 *     least
 */
public record RankTuning(Duration spin, Sockets sockets, long stripeBytes) {

  /** The choices for a rank that is a thread of its own. */
  public static final RankTuning DEFAULT =
      new RankTuning(Duration.ofNanos(200_000), Sockets.DIRECT, 1L << 20);

  /** Who reads and writes the sockets, once Netty has connected them. */
  public enum Sockets {
    /** The thread that runs a collective. */
    DIRECT,
    /** Netty's event loops, as where connections are encrypted; with epoll if it is present. */
    EVENT_LOOPS,
    /** Netty's event loops over Java's NIO. */
    NIO_EVENT_LOOPS
  }

  /** Returns these choices with another time to spin. */
  public RankTuning withSpin(Duration value) {
    return new RankTuning(value, sockets, stripeBytes);
  }

  /** Returns these choices with others who read and write sockets. */
  public RankTuning withSockets(Sockets value) {
    return new RankTuning(spin, value, stripeBytes);
  }

  /** Returns these choices with another size of stripes. */
  public RankTuning withStripeBytes(long value) {
    return new RankTuning(spin, sockets, value);
  }
}
