package org.sparkcollectives.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs parts of a test in threads of their own. */
public final class Threads implements AutoCloseable {

  private final ExecutorService executor =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "test-thread");
            thread.setDaemon(true);
            return thread;
          });

  /** The task of one of several threads. */
  @FunctionalInterface
  public interface Part<T> {
    /** Runs in the thread with this index. */
    T run(int index) throws Exception;
  }

  /** Starts {@code task}. */
  public <T> Future<T> start(Callable<T> task) {
    return executor.submit(task);
  }

  /**
   * Runs {@code part} in {@code count} threads that begin together, and returns their results in
   * order.
   */
  public <T> List<T> runTogether(int count, Part<T> part) throws Exception {
    CountDownLatch ready = new CountDownLatch(count);
    List<Future<T>> futures = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int index = i;
      futures.add(
          start(
              () -> {
                ready.countDown();
                ready.await();
                return part.run(index);
              }));
    }
    List<T> results = new ArrayList<>();
    try {
      for (Future<T> future : futures) {
        results.add(result(future));
      }
    } catch (TimeoutException e) {
      // It may wait in vain for another thread, which has failed.
      for (Future<T> each : futures) {
        if (each.isDone()) {
          each.get();
        }
      }
      throw e;
    }
    return results;
  }

  /** Returns the result of {@code future}, which must come within {@link Eventually#LIMIT}. */
  public static <T> T result(Future<T> future) throws Exception {
    return future.get(Eventually.LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  /** Returns the failure of {@code future}, which must come within {@link Eventually#LIMIT}. */
  public static Throwable failure(Future<?> future) throws InterruptedException, TimeoutException {
    try {
      Object result = future.get(Eventually.LIMIT.toSeconds(), TimeUnit.SECONDS);
      throw new AssertionError("did not fail but gave " + result);
    } catch (ExecutionException e) {
      return e.getCause();
    }
  }

  /**
   * Interrupts the threads, and waits until they have ended: what they use may be released then.
   *
   * @throws AssertionError if they have not ended within {@link Eventually#LIMIT}
   */
  @Override
  public void close() {
    executor.shutdownNow();
    try {
      if (!executor.awaitTermination(Eventually.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("threads of the test do not end after an interrupt: " + executor);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while threads of the test were ending", e);
    }
  }
}
