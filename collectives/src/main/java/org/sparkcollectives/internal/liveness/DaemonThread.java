package org.sparkcollectives.internal.liveness;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.sparkcollectives.net.LibraryThreads;

/** Runs a thread of the library that repeats a step, with a pause in between, until it is ended. */
final class DaemonThread {

  private final Thread thread;

  private DaemonThread(Thread thread) {
    this.thread = thread;
  }

  static DaemonThread start(String name, Runnable body) {
    return new DaemonThread(LibraryThreads.start(name, body));
  }

  /** Returns the thread's stack. */
  ThreadStack stack() {
    return ThreadStack.of(thread);
  }

  /**
   * Ends the thread's pause, so that it sees that it must end; waits for that for a second at the
   * most.
   */
  void awaitEnd() {
    LockSupport.unpark(thread);
    try {
      thread.join(TimeUnit.SECONDS.toMillis(1));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
