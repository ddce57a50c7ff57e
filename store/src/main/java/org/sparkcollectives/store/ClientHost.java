package org.sparkcollectives.store;

import java.time.Duration;

/**
 * A host with clients of a served store: how many connections it has, and when something was last
 * heard of it.
 */
final class ClientHost {

  /**
   * The least time that a host has before it is given up. Whatever it has sent while this process
   * was stopped is read by then.
   */
  static final Duration LEAST = Duration.ofSeconds(1);

  private final boolean isThisOne;
  private volatile long heardNanos;

  /** Guarded by the listener. */
  private int connections;

  /**
   * Creates a host that is heard of now.
   *
   * @param isThisOne whether the store is on the same host
   */
  ClientHost(boolean isThisOne, long nowNanos) {
    this.isThisOne = isThisOne;
    this.heardNanos = nowNanos;
  }

  void connected() {
    connections++;
  }

  /** Returns whether that was its last connection. */
  boolean left() {
    connections--;
    return connections == 0;
  }

  void heard(long nowNanos) {
    heardNanos = nowNanos;
  }

  /**
   * Returns for how many nanoseconds it is still waited for, if nothing more is heard of it. A
   * silence before the wait counts, but not that of the store's own host: it cannot be cut off, and
   * need not send heartbeats.
   *
   * @param patience how long the host may send nothing
   * @param startNanos when the wait began
   */
  long nanosLeft(Duration patience, long startNanos, long nowNanos) {
    long sinceHeard = nowNanos - heardNanos;
    long sinceStart = nowNanos - startNanos;
    long whole = patience.toNanos();
    return isThisOne
        ? whole - Math.min(sinceHeard, sinceStart)
        : Math.max(whole - sinceHeard, Math.min(whole, LEAST.toNanos()) - sinceStart);
  }
}
