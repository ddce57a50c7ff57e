package org.sparkcollectives.spark;

import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads of the driver's store: daemons, which go when they have had nothing to do for 5 s. */
final class DriverThreads {

  private static final int KEEP_ALIVE_SECONDS = 5;

  private DriverThreads() {}

  /** So many threads, and a queue without bounds. */
  static ThreadPoolExecutor pool(String name, int threads) {
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

  /** One thread, for what is to be done now or later. */
  static ScheduledThreadPoolExecutor scheduler(String name) {
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
