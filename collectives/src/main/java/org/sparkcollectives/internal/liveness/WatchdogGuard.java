package org.sparkcollectives.internal.liveness;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.config.TimeString;

/**
 * Watches the watchdog: a thread that does nothing but see whether the watchdog still polls, and if
 * not, says where it is stuck and ends the groups that it no longer guards.
 *
 * <p>A machine so busy that neither thread runs is no stuck watchdog: see {@link HeartbeatAge}.
 */
public final class WatchdogGuard implements AutoCloseable {

  private static final int LOOKS_IN_TIMEOUT = 10;
  private static final Logger LOG = LoggerFactory.getLogger(WatchdogGuard.class);

  private final Watchdog watchdog;
  private final Duration timeout;
  private final Duration period;
  private final DaemonThread thread;
  private volatile boolean closed;

  /** Creates a guard and starts its thread. */
  public WatchdogGuard(Watchdog watchdog, Duration timeout) {
    this.watchdog = watchdog;
    this.timeout = timeout;
    this.period = timeout.dividedBy(LOOKS_IN_TIMEOUT);
    thread = DaemonThread.start("collectives-watchdog-guard", this::run);
  }

  private void run() {
    HeartbeatAge age = new HeartbeatAge(period.multipliedBy(2));
    boolean reported = false;
    while (!closed) {
      LockSupport.parkNanos(this, period.toNanos());
      Duration stuck = age.observe(watchdog.rounds(), System.nanoTime());
      if (stuck.compareTo(timeout) < 0) {
        reported = false;
      } else if (!reported && !closed) {
        reported = true;
        report(stuck);
      }
    }
  }

  private void report(Duration stuck) {
    ThreadStack stack = watchdog.stack();
    String what =
        "the watchdog of this JVM has not run for "
            + TimeString.format(Duration.ofMillis(stuck.toMillis()))
            + ", so nothing guards deadlines any more: "
            + stack.summary();
    LOG.error("Ending the groups of this JVM, as {}{}", what, stack.frames());
    watchdog.reportStuck(what);
  }

  /** Ends the thread; waits for it for a second at the most. */
  @Override
  public void close() {
    closed = true;
    thread.awaitEnd();
  }
}
