package org.sparkcollectives.internal.failure;

import java.util.concurrent.locks.LockSupport;

/** Tells the time to what detects and settles failures, and lets it pass: tests give their own. */
interface TimeSource {

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

  /** Returns the time in nanoseconds, of which only differences count. */
  long nanos();

  /** Blocks for so long, or for less if the thread is interrupted or unparked. */
  void sleep(long nanos);
}
