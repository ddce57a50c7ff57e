package org.sparkcollectives.internal.transport;

import java.util.concurrent.locks.LockSupport;

/** Puts a thread that has waited for long to sleep. */
public interface Parking {

  /** Announces a wait, which may end in a park. */
  default void awake() {}

  /**
   * Announces that this thread is about to park to everyone who must wake it. The caller has looked
   * at what it waits for, and parks only if this returns false.
   *
   * @return whether somebody has been told who did not know: what is waited for may have come
   *     before, without a wake-up, and the caller looks again
   */
  default boolean announce() {
    return false;
  }

  /** Announces the end of the wait: nobody need wake this thread. */
  default void ended() {}

  /** Sleeps until somebody wakes this thread, or for {@code nanos}; may end for no reason. */
  void park(long nanos);

  /**
   * Wakes the thread that parks here; if it does not sleep yet, its next {@link #park} ends at
   * once. Any thread may call.
   */
  void unpark(Thread thread);

  /** Lets other threads run that are ready on this processor; returns at once if none is. */
  default void yieldProcessor() {
    Thread.yield();
  }

  /** Returns the way of a thread that waits for nothing but other threads. */
  static Parking ofThread() {
    return new Parking() {
      @Override
      public void park(long nanos) {
        LockSupport.parkNanos(this, nanos);
      }

      @Override
      public void unpark(Thread thread) {
        LockSupport.unpark(thread);
      }
    };
  }
}
