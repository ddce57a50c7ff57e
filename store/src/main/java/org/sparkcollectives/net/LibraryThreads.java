package org.sparkcollectives.net;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes every thread that the library starts: a daemon whose name contains {@code collectives-},
 * with a handler that logs what nothing has caught.
 *
 * <p>An exception that a thread leaves to the JVM's default handler ends a Spark executor, and with
 * it the tasks of all other jobs there. Thread-safe.
 */
public final class LibraryThreads implements ThreadFactory {

  private static final Logger LOG = LoggerFactory.getLogger(LibraryThreads.class);

  private final String name;

  /** Null if all threads have the same name. */
  private final AtomicInteger last;

  private LibraryThreads(String name, AtomicInteger last) {
    this.name = name;
    this.last = last;
  }

  /** Returns a factory whose threads all have this name: of an executor that has one at a time. */
  public static LibraryThreads named(String name) {
    return new LibraryThreads(name, null);
  }

  /** Returns a factory whose threads have this name, a hyphen and a number from 1. */
  public static LibraryThreads numbered(String name) {
    return new LibraryThreads(name, new AtomicInteger());
  }

  /**
   * Starts a thread.
   *
   * @throws OutOfMemoryError if none can be created
   */
  public static Thread start(String name, Runnable body) {
    Thread thread = named(name).newThread(body);
    thread.start();
    return thread;
  }

  /** Returns a factory of threads for Netty's event loops, numbered as Netty does. */
  static ThreadFactory ofEventLoops(String name) {
    return new DefaultThreadFactory(name, true) {
      @Override
      protected Thread newThread(Runnable body, String numbered) {
        Thread thread = super.newThread(body, numbered);
        thread.setUncaughtExceptionHandler(LibraryThreads::log);
        return thread;
      }
    };
  }

  @Override
  public Thread newThread(Runnable body) {
    Thread thread = new Thread(body, last == null ? name : name + "-" + last.incrementAndGet());
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler(LibraryThreads::log);
    return thread;
  }

  private static void log(Thread thread, Throwable thrown) {
    LOG.error(
        "Thread {} has ended: nothing has caught what it threw. Please report this",
        thread.getName(),
        thrown);
  }
}
