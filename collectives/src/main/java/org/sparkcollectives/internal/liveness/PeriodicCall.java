package org.sparkcollectives.internal.liveness;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Makes a call in the background periodically: never two at the same time, and the next no sooner
 * than a period after the last has ended. Thread-safe.
 */
final class PeriodicCall {

  private final BackgroundCalls background;
  private final long periodNanos;
  private final TimeSource time;
  private final AtomicBoolean underWay = new AtomicBoolean();
  private volatile long dueNanos;

  /** Creates a call that is due at once. */
  PeriodicCall(BackgroundCalls background, Duration period, TimeSource time) {
    this.background = background;
    this.periodNanos = period.toNanos();
    this.time = time;
    this.dueNanos = time.nanos();
  }

  /** Begins the call if it is due. Does not block. If no thread is available, it stays due. */
  void poll(Runnable call) {
    if (time.nanos() - dueNanos < 0 || !underWay.compareAndSet(false, true)) {
      return;
    }
    boolean begun =
        background.run(
            () -> {
              try {
                call.run();
              } finally {
                dueNanos = time.nanos() + periodNanos;
                underWay.set(false);
              }
            });
    if (!begun) {
      underWay.set(false);
    }
  }
}
