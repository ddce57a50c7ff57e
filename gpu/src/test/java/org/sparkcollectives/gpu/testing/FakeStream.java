package org.sparkcollectives.gpu.testing;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/** A stream of a fake: a thread that carries out its tasks in order. */
final class FakeStream {

  private static final AtomicLong IDS = new AtomicLong();

  private final int device;
  private final List<String> errors;
  private final long id = IDS.incrementAndGet();
  private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
  private final CompletableFuture<Void> over = new CompletableFuture<>();
  private volatile boolean closed;

  /**
   * Creates a stream of a device.
   *
   * @param errors receives its failures
   */
  FakeStream(int device, String name, List<String> errors) {
    this.device = device;
    this.errors = errors;
    Thread thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      while (!closed || !tasks.isEmpty()) {
        Runnable task = tasks.take();
        try {
          task.run();
        } catch (RuntimeException | AssertionError e) {
          errors.add(e.toString());
        }
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      over.complete(null);
    }
  }

  int device() {
    return device;
  }

  /** Returns the id, which no other stream has. */
  long id() {
    return id;
  }

  void enqueue(Runnable task) {
    tasks.add(task);
  }

  /**
   * Returns a future that completes once all work is done that is in the stream now, even if the
   * stream is closed meanwhile.
   */
  CompletableFuture<?> whenIdle() {
    CompletableFuture<Void> reached = new CompletableFuture<>();
    tasks.add(() -> reached.complete(null));
    return CompletableFuture.anyOf(reached, over);
  }

  /** Ends the thread after the work that is in the stream. The future completes with it. */
  CompletableFuture<Void> close() {
    tasks.add(() -> closed = true);
    return over;
  }
}
