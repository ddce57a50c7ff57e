package org.sparkcollectives.internal.engine;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.sparkcollectives.internal.transport.Cancellation;
import org.sparkcollectives.internal.transport.EventCount;

/**
 * The threads of an operation that is cut in parts: its own, and some of the executor.
 *
 * <p>The first part to fail reports that to the group before anything else, and the group's failure
 * ends all other parts, wherever they wait. The operation's thread leaves last, in any case: as
 * long as another thread uses the operation's memory, the caller does not own it.
 *
 * <p>One operation at a time.
 */
final class StripeThreads {

  private final Executor executor;
  private final Consumer<Throwable> onFailure;
  private final Cancellation whileOthersRun;
  private final EventCount ends;
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicReference<Throwable> first = new AtomicReference<>();

  /**
   * Creates the threads of one rank.
   *
   * @param onFailure ends the group; does not block
   * @param onInterrupt is called when the waiting thread is interrupted; does not block
   * @param spin how long that spins before it sleeps
   */
  StripeThreads(
      Executor executor, Consumer<Throwable> onFailure, Runnable onInterrupt, Duration spin) {
    this.executor = executor;
    this.onFailure = onFailure;
    this.ends = new EventCount(spin);
    this.whileOthersRun =
        new Cancellation() {
          @Override
          public void check() {
            // The end of the group ends the other parts, and only then this wait.
          }

          @Override
          public void interrupted() {
            onInterrupt.run();
          }
        };
  }

  /**
   * Runs {@code part} for 0 to {@code count - 1}, 0 on this thread; returns when all have ended.
   *
   * @throws RuntimeException what the first to fail has thrown
   */
  void run(int count, IntConsumer part) {
    running.set(count - 1);
    for (int index = 1; index < count; index++) {
      begin(part, index);
    }
    try {
      runHere(part, 0);
    } finally {
      ends.await(() -> running.get() == 0, whileOthersRun);
    }
    Throwable thrown = first.getAndSet(null);
    if (thrown instanceof Error error) {
      throw error;
    }
    if (thrown != null) {
      throw (RuntimeException) thrown;
    }
  }

  private void begin(IntConsumer part, int index) {
    try {
      executor.execute(
          () -> {
            try {
              runHere(part, index);
            } finally {
              leave();
            }
          });
    } catch (RuntimeException | Error e) {
      // No thread was available.
      try {
        failed(e);
      } finally {
        leave();
      }
    }
  }

  private void runHere(IntConsumer part, int index) {
    try {
      part.accept(index);
    } catch (RuntimeException | Error e) {
      failed(e);
    }
  }

  private void failed(Throwable thrown) {
    if (first.compareAndSet(null, thrown)) {
      try {
        onFailure.accept(thrown);
      } catch (RuntimeException | Error e) {
        // The thread that runs the parts must still wait for those that are running.
        thrown.addSuppressed(e);
      }
    }
  }

  private void leave() {
    running.decrementAndGet();
    ends.signal();
  }
}
