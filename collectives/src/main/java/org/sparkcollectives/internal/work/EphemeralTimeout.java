package org.sparkcollectives.internal.work;

import java.time.Duration;

/**
 * Extends, for a while, the time that a group's operations get beyond their timeout: for the
 * operations that begin until the first that got the extension completes. So a step that is slow
 * once, such as the loading of a checkpoint on one rank, needs no other timeout for all later
 * operations.
 *
 * <p>The semantics are those of c10d's ephemeral timeout.
 */
public final class EphemeralTimeout {

  /** The extension of one operation. */
  public static final class Extension {

    private static final Extension NONE = new Extension(0, 0);

    private final long nanos;

    /** The part that no earlier operation has got, and that ends with this one. */
    private final long ownNanos;

    private Extension(long nanos, long ownNanos) {
      this.nanos = nanos;
      this.ownNanos = ownNanos;
    }

    public Duration duration() {
      return Duration.ofNanos(nanos);
    }
  }

  private volatile long nanos;
  private long givenNanos;

  /** Gives operations that begin from now on {@code by} more time. */
  public synchronized void extend(Duration by) {
    nanos = Math.addExact(nanos, by.toNanos());
  }

  /** Returns the extension of an operation that begins; must be given back when it completes. */
  public Extension take() {
    return nanos == 0 ? Extension.NONE : takeSome();
  }

  private synchronized Extension takeSome() {
    Extension extension = new Extension(nanos, nanos - givenNanos);
    givenNanos = nanos;
    return extension;
  }

  void giveBack(Extension extension) {
    if (extension.ownNanos > 0) {
      synchronized (this) {
        nanos = nanos - extension.ownNanos;
        givenNanos -= extension.ownNanos;
      }
    }
  }
}
