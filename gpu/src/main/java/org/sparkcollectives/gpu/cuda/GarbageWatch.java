package org.sparkcollectives.gpu.cuda;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does what is left to do for objects that nobody can reach any more, as {@link
 * java.lang.ref.Cleaner} does, but with a thread that is there only while there are such objects:
 * executors of Spark outlive this library's work. Thread-safe.
 */
final class GarbageWatch {

  private static final Logger LOG = LoggerFactory.getLogger(GarbageWatch.class);

  /** So that who frees and allocates in turn does not start a thread each time. */
  private static final long LINGER_MILLIS = 100;

  private static final long FOREVER = 0;

  private final String threadName;
  private final ReferenceQueue<Object> unreachable = new ReferenceQueue<>();
  private final Set<Watched> watched = new HashSet<>();
  private Thread thread;

  GarbageWatch(String threadName) {
    this.threadName = threadName;
  }

  /** An object, and what is left to do for it. */
  final class Watched extends PhantomReference<Object> {
    private final Runnable rest;

    private Watched(Object object, Runnable rest) {
      super(object, unreachable);
      this.rest = rest;
    }

    /** Does it now, unless it is done. */
    void clean() {
      if (remove(this)) {
        rest.run();
      }
    }
  }

  /**
   * Watches an object.
   *
   * @param rest to be done once, on any thread; must not reach the object
   */
  synchronized Watched watch(Object object, Runnable rest) {
    Watched made = new Watched(object, rest);
    watched.add(made);
    if (thread == null) {
      Thread starting = new Thread(this::run, threadName);
      starting.setDaemon(true);
      starting.start();
      thread = starting;
    }
    return made;
  }

  private synchronized boolean remove(Watched one) {
    boolean first = watched.remove(one);
    if (first && watched.isEmpty()) {
      // Wakes the thread, which waits for one of them.
      one.enqueue();
    }
    return first;
  }

  private void run() {
    try {
      while (true) {
        Watched next = (Watched) unreachable.remove(isEmpty() ? LINGER_MILLIS : FOREVER);
        if (next != null) {
          clean(next);
        } else if (ends()) {
          return;
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("Nobody interrupts " + threadName, e);
    }
  }

  private static void clean(Watched next) {
    try {
      next.clean();
    } catch (RuntimeException | Error e) {
      // An Error, too: nobody would look after the others any more.
      LOG.warn("Garbage could not be let go of", e);
    }
  }

  private synchronized boolean isEmpty() {
    return watched.isEmpty();
  }

  /** Whether the thread ends, and the next object needs another one. */
  private synchronized boolean ends() {
    if (watched.isEmpty()) {
      thread = null;
    }
    return thread == null;
  }
}
