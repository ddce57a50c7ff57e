package org.sparkcollectives.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/**
 * Tests the threads of an operation in parts: which waits for which, and what the first failure
 * does.
 */
class StripeThreadsTest {

  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch failed = new CountDownLatch(1);
  private final CountDownLatch interrupted = new CountDownLatch(1);

  @AfterEach
  void endThreads() throws InterruptedException {
    executor.shutdownNow();
    assertThat(executor.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
  }

  private StripeThreads threads(Executor onto) {
    return new StripeThreads(onto, this::fail, interrupted::countDown, Duration.ZERO);
  }

  private void fail(Throwable cause) {
    failures.add(cause);
    failed.countDown();
  }

  /** Waits as a part does that waits for peers: only the failure of the group ends the wait. */
  private void waitForPeers() {
    try {
      failed.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    throw new IllegalStateException("the group has failed");
  }

  @RepeatedTest(100)
  void everyPartRunsOnceAndNoneIsLeftAtTheEnd() {
    AtomicInteger parts = new AtomicInteger();
    StripeThreads threads = threads(executor);
    for (int i = 0; i < 10; i++) {
      // This is a plain array: a thread that waits for the others sees what they wrote.
      int[] done = new int[4];
      threads.run(
          4,
          index -> {
            done[index]++;
            parts.incrementAndGet();
          });
      assertThat(done).containsOnly(1);
    }
    assertThat(parts).hasValue(40);
    assertThat(failures).isEmpty();
  }

  @RepeatedTest(20)
  void theFirstFailureIsToldAtOnceAndThrownWhenAllHaveLeft() {
    StripeThreads threads = threads(executor);
    for (int first = 0; first < 3; first++) {
      int broken = first;
      AtomicInteger left = new AtomicInteger();
      assertThatThrownBy(
              () ->
                  threads.run(
                      3,
                      index -> {
                        try {
                          if (index == broken && failed.getCount() == 1) {
                            throw new IllegalArgumentException("the cause");
                          }
                          waitForPeers();
                        } finally {
                          left.incrementAndGet();
                        }
                      }))
          .hasMessage(first == 0 ? "the cause" : "the group has failed");
      assertThat(left).hasValue(3);
    }
    assertThat(failures).hasSize(3).first().isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void whereNoThreadCanBeHadTheOperationFails() {
    AtomicInteger begun = new AtomicInteger();
    StripeThreads threads =
        threads(
            body -> {
              if (begun.incrementAndGet() == 2) {
                throw new RejectedExecutionException("no thread");
              }
              executor.execute(body);
            });
    assertThatThrownBy(() -> threads.run(3, index -> waitForPeers())).hasMessage("no thread");
    assertThat(failures).hasSize(1);
  }

  @Test
  void whereTellingTheFailureFailsTooItStillWaitsForPartsThatAreUnderWay() {
    CountDownLatch refused = new CountDownLatch(1);
    AtomicInteger inside = new AtomicInteger();
    Executor onlyOne =
        new Executor() {
          private boolean taken;

          @Override
          public void execute(Runnable command) {
            if (taken) {
              throw new OutOfMemoryError("unable to create native thread");
            }
            taken = true;
            inside.incrementAndGet();
            executor.execute(command);
          }
        };
    StripeThreads threads =
        new StripeThreads(
            onlyOne,
            cause -> {
              refused.countDown();
              throw new IllegalStateException("nor can this be told");
            },
            interrupted::countDown,
            Duration.ZERO);
    assertThatThrownBy(
            () ->
                threads.run(
                    3,
                    index -> {
                      if (index == 1) {
                        awaitQuietly(refused);
                        inside.decrementAndGet();
                      }
                    }))
        .isInstanceOf(OutOfMemoryError.class)
        .satisfies(thrown -> assertThat(thrown.getSuppressed()).hasSize(1));
    assertThat(inside).hasValue(0);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void anErrorIsThrownAsItIs() {
    Error error = new OutOfMemoryError("a part");
    assertThatThrownBy(
            () ->
                threads(executor)
                    .run(
                        2,
                        index -> {
                          if (index == 1) {
                            throw error;
                          }
                        }))
        .isSameAs(error);
    assertThat(failures).containsExactly(error);
  }

  @Test
  void anInterruptIsToldButDoesNotEndTheWait() throws InterruptedException {
    CountDownLatch waits = new CountDownLatch(1);
    AtomicInteger left = new AtomicInteger();
    Thread caller =
        new Thread(
            () -> {
              threads(executor)
                  .run(
                      2,
                      index -> {
                        if (index == 1) {
                          waits.countDown();
                          try {
                            interrupted.await();
                          } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                          }
                          left.incrementAndGet();
                        }
                      });
              if (Thread.interrupted()) {
                left.incrementAndGet();
              }
            });
    caller.start();
    waits.await();
    caller.interrupt();
    caller.join();
    assertThat(left).hasValue(2);
    assertThat(failures).isEmpty();
  }
}
