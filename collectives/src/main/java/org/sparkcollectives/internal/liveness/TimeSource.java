package org.sparkcollectives.internal.liveness;

import java.util.concurrent.locks.LockSupport;

/**
 * The clock of the detection and handling of failures, which also sleep by it. Tests have their
 * own.
 */
public interface TimeSource {

  /** The clock of this JVM. */
  TimeSource SYSTEM =
      new TimeSource() {
        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public void sleep(long nanos) {
          LockSupport.parkNanos(nanos);
        }
      };

  /** Returns the time in nanoseconds, of which only differences are meaningful. */
  long nanos();

  /** Blocks for {@code nanos}, or for less if the thread is interrupted or unparked. */
  void sleep(long nanos);
}
