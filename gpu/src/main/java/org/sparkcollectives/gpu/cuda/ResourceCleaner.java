package org.sparkcollectives.gpu.cuda;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.net.LibraryThreads;

/**
 * Runs the cleanup actions of unreachable objects, as {@link java.lang.ref.Cleaner} does. Its
 * thread exists only while there are such objects, because Spark's executors outlive this library's
 * work. Thread-safe.
 */
final class ResourceCleaner {

  private static final Logger LOG = LoggerFactory.getLogger(ResourceCleaner.class);

  /**
   * The thread waits so long before it ends. Otherwise freeing and allocating in turn would start a
   * thread each time.
   */
  private static final long LINGER_MILLIS = 100;

  private static final long FOREVER = 0;

  private final String threadName;
  private final ReferenceQueue<Object> unreachable = new ReferenceQueue<>();
  private final Set<Cleanable> registered = new HashSet<>();
  private Thread thread;

  ResourceCleaner(String threadName) {
    this.threadName = threadName;
  }

  /** An object, and its cleanup action. */
  final class Cleanable extends PhantomReference<Object> {
    private final Runnable action;

    private Cleanable(Object object, Runnable action) {
      super(object, unreachable);
      this.action = action;
    }

    /** Runs the action now, unless it has run. */
    void clean() {
      if (remove(this)) {
        action.run();
      }
    }
  }

  /**
   * Registers an object.
   *
   * @param action runs once, on any thread; must not reach the object
   */
  synchronized Cleanable register(Object object, Runnable action) {
    Cleanable made = new Cleanable(object, action);
    registered.add(made);
    if (thread == null) {
      thread = LibraryThreads.start(threadName, this::run);
    }
    return made;
  }

  private synchronized boolean remove(Cleanable one) {
    boolean first = registered.remove(one);
    if (first && registered.isEmpty()) {
      // Wakes the thread, which waits for one of the objects.
      one.enqueue();
    }
    return first;
  }

  private void run() {
    try {
      while (true) {
        Cleanable next = (Cleanable) unreachable.remove(isEmpty() ? LINGER_MILLIS : FOREVER);
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

  private static void clean(Cleanable next) {
    try {
      next.clean();
    } catch (RuntimeException | Error e) {
      // Catches errors too: otherwise nobody would clean up the other objects.
      LOG.warn("A resource could not be released", e);
    }
  }

  private synchronized boolean isEmpty() {
    return registered.isEmpty();
  }

  /** Returns whether the thread ends; the next object then needs a new one. */
  private synchronized boolean ends() {
    if (registered.isEmpty()) {
      thread = null;
    }
    return thread == null;
  }
}
