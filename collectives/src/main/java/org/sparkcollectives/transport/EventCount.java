package org.sparkcollectives.transport;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Where one thread waits until others have made a condition true.
 *
 * <p>The waiter spins for a moment, then yields, then parks. Whoever changes what the condition
 * reads calls {@link #signal()} afterwards. No signal is lost: the waiter announces that it will
 * park before it looks at the condition for the last time, and a signaller publishes its change
 * before it looks at the announcement; both are volatile accesses, so at least one sees the other.
 * The parks are bounded all the same, so that a {@link Cancellation} without a signal is seen in
 * time.
 *
 * <p>Spinning pays only while each waiter has a processor of its own; the time for it is 0
 * otherwise.
 */
public final class EventCount {

  /** The longest that a cancellation without a signal stays unseen. */
  private static final long PARK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private static final int YIELDS = 32;
  private static final int LOOKS_PER_CLOCK = 16;

  private final long spinNanos;
  private final Parking parking;
  private volatile Thread parked;

  /** With the time for which to look at the condition again and again before giving way. */
  public EventCount(long spinNanos) {
    this(spinNanos, Parking.ofThread());
  }

  /** With how to sleep in the end. */
  public EventCount(long spinNanos, Parking parking) {
    this.spinNanos = spinNanos;
    this.parking = parking;
  }

  /**
   * Waits until {@code condition} is true. One thread at a time may wait.
   *
   * <p>An interrupt is handed to {@link Cancellation#interrupted}, and the flag set again at the
   * end.
   *
   * @throws RuntimeException what {@code cancellation} throws, if it does so first
   */
  public void await(BooleanSupplier condition, Cancellation cancellation) {
    long end = System.nanoTime() + spinNanos;
    for (int i = 1; spinNanos > 0; i++) {
      if (condition.getAsBoolean()) {
        return;
      }
      Thread.onSpinWait();
      if (i % LOOKS_PER_CLOCK == 0 && System.nanoTime() - end > 0) {
        break;
      }
    }
    for (int i = 0; i < YIELDS; i++) {
      if (condition.getAsBoolean()) {
        return;
      }
      Thread.yield();
    }
    parking.awake();
    boolean interrupted = false;
    try {
      while (true) {
        parked = Thread.currentThread();
        if (condition.getAsBoolean()) {
          return;
        }
        cancellation.check();
        parking.park(PARK_NANOS);
        // Left pending, the interrupt would turn every park into a spin.
        if (Thread.interrupted()) {
          interrupted = true;
          cancellation.interrupted();
        }
      }
    } finally {
      parked = null;
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Wakes the waiter, if there is one, to look at its condition again. Any thread may call. */
  public void signal() {
    Thread waiter = parked;
    if (waiter != null) {
      parking.unpark(waiter);
    }
  }
}
