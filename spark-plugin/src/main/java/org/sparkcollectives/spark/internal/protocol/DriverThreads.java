package org.sparkcollectives.spark.internal.protocol;

import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.net.LibraryThreads;

/**
 * The threads of the driver's store and of its clients: daemons that end after 5 s without work.
 */
public final class DriverThreads {

  private static final int KEEP_ALIVE_SECONDS = 5;
  private static final Logger LOG = LoggerFactory.getLogger(DriverThreads.class);

  private DriverThreads() {}

  /** Creates a pool of so many threads, with an unbounded queue. */
  public static ThreadPoolExecutor pool(String name, int threads) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            KEEP_ALIVE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            LibraryThreads.named(name));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Creates a scheduler of one thread, which logs what a task throws. */
  public static ScheduledThreadPoolExecutor scheduler(String name) {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(1, LibraryThreads.named(name)) {
          @Override
          protected void afterExecute(Runnable task, Throwable thrown) {
            logThrown(name, task);
          }
        };
    executor.setKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS);
    executor.allowCoreThreadTimeOut(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return executor;
  }

  /** Logs what a task has thrown: a scheduler keeps it in a future that nobody looks at. */
  private static void logThrown(String name, Runnable task) {
    if (!(task instanceof Future<?> future) || !future.isDone()) {
      return;
    }
    try {
      future.get();
    } catch (ExecutionException e) {
      LOG.error("A task of {} has failed", name, e.getCause());
    } catch (CancellationException e) {
      LOG.debug("A task of {} was cancelled", name);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
