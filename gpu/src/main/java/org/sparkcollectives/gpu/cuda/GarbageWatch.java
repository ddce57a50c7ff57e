package org.sparkcollectives.gpu.cuda;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs cleanup actions for unreachable objects, as {@link java.lang.ref.Cleaner} does. Its thread
 * exists only while there are such objects, because Spark's executors outlive this library's work.
 * Thread-safe.
 */
final class GarbageWatch {

  private static final Logger LOG = LoggerFactory.getLogger(GarbageWatch.class);

  /**
   * The thread waits so long before it ends. Otherwise freeing and allocating in turn would start a
   * thread each time.
   */
  private static final long LINGER_MILLIS = 100;

  private static final long FOREVER = 0;

  private final String threadName;
  private final ReferenceQueue<Object> unreachable = new ReferenceQueue<>();
  private final Set<Watched> watched = new HashSet<>();
  private Thread thread;

  GarbageWatch(String threadName) {
    this.threadName = threadName;
  }

  /** An object, and its cleanup action. */
  final class Watched extends PhantomReference<Object> {
    private final Runnable rest;

    private Watched(Object object, Runnable rest) {
      super(object, unreachable);
      this.rest = rest;
    }

    /** Runs the action now, unless it has run. */
    void clean() {
      if (remove(this)) {
        rest.run();
      }
    }
  }

  /**
   * Registers an object.
   *
   * @param rest the action, which runs once, on any thread; must not reach the object
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
      // Wakes the thread, which waits for one of the objects.
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
      // Catches errors too: otherwise nobody would clean up the other objects.
      LOG.warn("Garbage could not be let go of", e);
    }
  }

  private synchronized boolean isEmpty() {
    return watched.isEmpty();
  }

  /** Returns whether the thread ends; the next object then needs a new one. */
  private synchronized boolean ends() {
    if (watched.isEmpty()) {
      thread = null;
    }
    return thread == null;
  }
}
