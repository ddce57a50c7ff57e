package org.sparkcollectives.spark.internal.protocol;

import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads of the driver's store and of its clients: daemons that end after 5 s without work.
 */
public final class DriverThreads {

  private static final int KEEP_ALIVE_SECONDS = 5;

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
            daemons(name));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Creates a scheduler of one thread. */
  public static ScheduledThreadPoolExecutor scheduler(String name) {
    ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, daemons(name));
    executor.setKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS);
    executor.allowCoreThreadTimeOut(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return executor;
  }

  private static ThreadFactory daemons(String name) {
    return body -> {
      Thread thread = Executors.defaultThreadFactory().newThread(body);
      thread.setName(name);
      thread.setDaemon(true);
      return thread;
    };
  }
}
