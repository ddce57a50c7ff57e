package org.sparkcollectives.internal.transport;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Lets one thread wait until others have made a condition true.
 *
 * <p>The waiter spins for a moment, then parks. Whoever changes what the condition reads calls
 * {@link #signal()} afterwards. No signal is lost: the waiter announces that it will park before it
 * looks at the condition for the last time, and a signaller publishes its change before it looks at
 * the announcement; both are volatile accesses, so at least one sees the other. Where others than
 * signallers must know that a thread is about to park, {@link Parking#announce} tells them, and the
 * waiter looks once more, for the same reason. The parks are bounded all the same, so that a {@link
 * Cancellation} without a signal is seen in time.
 *
 * <p>To spin pays while what is waited for comes within about the time that it takes to wake a
 * thread, and each waiter has a processor of its own. Otherwise it takes the processor from those
 * who would make the condition true, and from the compiler: after a few waits in a row that were
 * long the waiter parks at once, until one was short again.
 *
 * <p>A waiter does not yield while it spins: a fair scheduler then runs whoever else is there for a
 * whole slice, and two ranks that yield to each other's compilers take turns in milliseconds. It
 * yields once when it begins to spin, if it slept in its last wait, or if it has not waited for the
 * time of two spins. Whoever wakes a waiter in the middle of an operation yields once, too, when it
 * has woken all, unless it never spins. The reason is that a scheduler puts a woken thread on the
 * processor of the one that woke it, where it takes the other processors to be unavailable: Linux
 * does so in a virtual machine whose idle processor the host has descheduled. The woken thread then
 * runs only when the spin is over.
 */
public final class EventCount {

  /** The longest that a cancellation without a signal stays unseen. */
  private static final long PARK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /**
   * The number of waits in a row, all too long for spinning, after which a thread stops spinning.
   */
  private static final int TRUST = 4;

  /** Sleepers that wait for each other sleep no longer than that if none is busy. */
  private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** While waits are long, one wait in this many spins all the same, to notice shorter waits. */
  private static final int PROBE = 16;

  private static final int LOOKS_PER_CLOCK = 16;

  private final long spinNanos;
  private final Parking parking;
  private int trust = TRUST;
  private int waits;

  private boolean slept;

  /** When the last wait began that ended while the thread spun. */
  private long lastShortWait = System.nanoTime();

  private volatile Thread parked;

  /** Creates it for a thread that spins for so long, which may be zero, and then parks. */
  public EventCount(Duration spin) {
    this(spin, Parking.ofThread());
  }

  /** Creates it for a thread that spins for so long, and then sleeps by {@code parking}. */
  public EventCount(Duration spin, Parking parking) {
    this.spinNanos = spin.toNanos();
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
    long start = System.nanoTime();
    boolean spins = spinNanos > 0 && (trust > 0 || ++waits % PROBE == 0);
    if (spins && comesSoon(condition, cancellation, start)) {
      trust = TRUST;
      lastShortWait = start;
      return;
    }
    park(condition, cancellation);
    boolean cameSoon = System.nanoTime() - start <= SOON_NANOS;
    trust = cameSoon ? TRUST : Math.max(0, trust - 1);
  }

  private void park(BooleanSupplier condition, Cancellation cancellation) {
    parking.awake();
    boolean interrupted = false;
    try {
      while (true) {
        parked = Thread.currentThread();
        if (condition.getAsBoolean()) {
          return;
        }
        cancellation.check();
        if (parking.announce()) {
          continue;
        }
        slept = true;
        parking.park(PARK_NANOS);
        // Left pending, the interrupt would turn every park into a spin.
        if (Thread.interrupted()) {
          interrupted = true;
          cancellation.interrupted();
        }
      }
    } finally {
      parked = null;
      parking.ended();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private boolean comesSoon(BooleanSupplier condition, Cancellation cancellation, long start) {
    boolean yields = slept || start - lastShortWait > 2 * spinNanos;
    slept = false;
    long looked = start;
    for (int i = 1; ; i++) {
      // Once in each round: to look may change something.
      if (condition.getAsBoolean()) {
        return true;
      }
      if (yields) {
        yields = false;
        parking.yieldProcessor();
      }
      if (i % LOOKS_PER_CLOCK == 0) {
        long now = System.nanoTime();
        if (now - start >= spinNanos) {
          return false;
        }
        looked = lookAtCancellation(now, looked, cancellation);
      }
      Thread.onSpinWait();
    }
  }

  /** Checks for a cancellation while spinning, as often as a thread that parks does. */
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

  /**
   * Lets those run that this thread has woken, if it would otherwise spin on the processor that
   * they were put on.
   */
  public void yieldToWoken() {
    if (spinNanos > 0) {
      parking.yieldProcessor();
    }
  }

  /**
   * Wakes the waiter, if it has parked, to look at its condition again. Any thread may call.
   *
   * @return whether it had parked
   */
  public boolean signal() {
    Thread waiter = parked;
    if (waiter != null) {
      parking.unpark(waiter);
    }
    return waiter != null;
  }
}
