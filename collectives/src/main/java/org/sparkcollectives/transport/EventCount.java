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
 * <p>How long it looks before it parks is its {@link Patience}, which pays only while each waiter
 * has a processor of its own.
 */
public final class EventCount {

  /** The longest that a cancellation without a signal stays unseen. */
  private static final long PARK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private static final int YIELDS = 32;

  /** On a busy machine each yield may take as long as another thread's slice. */
  private static final long LONGEST_YIELDS_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  private static final int LOOKS_PER_CLOCK = 16;

  private final Patience patience;
  private final Parking parking;
  private volatile Thread parked;

  /** With how long to look at the condition before the thread parks. */
  public EventCount(Patience patience) {
    this(patience, Parking.ofThread());
  }

  /** With how to sleep in the end. */
  public EventCount(Patience patience, Parking parking) {
    this.patience = patience;
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
    if (comesSoon(condition, cancellation)) {
      return;
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

  private boolean comesSoon(BooleanSupplier condition, Cancellation cancellation) {
    long start = System.nanoTime();
    long looked = start;
    for (int i = 1; patience.spinNanos() > 0; i++) {
      if (condition.getAsBoolean()) {
        return true;
      }
      Thread.onSpinWait();
      if (i % LOOKS_PER_CLOCK == 0) {
        long now = System.nanoTime();
        if (now - start > patience.spinNanos()) {
          break;
        }
        looked = lookAtCancellation(now, looked, cancellation);
      }
    }
    long both = patience.spinNanos() + patience.yieldNanos();
    long waited;
    int yields = 0;
    do {
      if (condition.getAsBoolean()) {
        return true;
      }
      Thread.yield();
      long now = System.nanoTime();
      waited = now - start;
      looked = lookAtCancellation(now, looked, cancellation);
    } while (waited < both || (++yields < YIELDS && waited < both + LONGEST_YIELDS_NANOS));
    return false;
  }

  /** Patience may be long, but not longer deaf than a thread that parks. */
  private static long lookAtCancellation(long now, long looked, Cancellation cancellation) {
    if (now - looked < PARK_NANOS) {
      return looked;
    }
    cancellation.check();
    if (Thread.interrupted()) {
      try {
        cancellation.interrupted();
      } finally {
        Thread.currentThread().interrupt();
      }
    }
    return now;
  }

  /** Wakes the waiter, if there is one, to look at its condition again. Any thread may call. */
  public void signal() {
    Thread waiter = parked;
    if (waiter != null) {
      parking.unpark(waiter);
    }
  }
}
