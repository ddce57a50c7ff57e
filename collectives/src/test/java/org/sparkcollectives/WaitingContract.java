package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Eventually;

/** Specifies the wait for a work, with deadlines, failures and several threads. */
interface WaitingContract extends RanksUnderTest {

  /** A time far longer than any of these waits. */
  long PATIENCE_SECONDS = 30;

  Duration PATIENCE = Duration.ofSeconds(PATIENCE_SECONDS);

  private static List<Tensor> get(Work work) throws Exception {
    return work.future().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  default void aWaitThatEndsEarlyHasNoEffectOnTheOperation() {
    ranks(
        2,
        group -> {
          int[] sum = {1 + group.rank()};
          int[] message = {7 * group.rank()};
          if (group.rank() == 1) {
            group.store().get("rank 0 has given up waiting");
            group.send(Tensor.of(message), 0, 0).await();
            group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
            return null;
          }
          Coalescing block = group.coalesce();
          List<Work> works = new ArrayList<>();
          try (block) {
            works.add(group.recv(Tensor.of(message), 1, 0));
            works.add(group.allReduce(Tensor.of(sum), ReduceOp.SUM));
          }
          works.add(block.work());
          for (Work work : works) {
            assertThat(work.await(Duration.ofMillis(50))).isFalse();
            assertThat(work.await(Duration.ZERO)).isFalse();
            assertThat(work.await(Duration.ofSeconds(-1))).isFalse();
            assertThat(work.isCompleted()).isFalse();
            assertThat(work.isSuccess()).isFalse();
            assertThat(work.exception()).isNull();
            assertThat(work.durationMillis()).isEmpty();
            assertThat(work.future()).isNotDone();
            assertThat(work.result()).isNotDone();
          }
          group.store().set("rank 0 has given up waiting", new byte[0]);
          for (Work work : works) {
            assertThat(work.await(PATIENCE)).isTrue();
            work.await();
            assertThat(work.await(Duration.ZERO)).isTrue();
            assertThat(work.isSuccess()).isTrue();
            assertThat(work.exception()).isNull();
            assertThat(work.durationMillis().orElseThrow()).isNotNegative();
            assertThat(work.result().get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .isEqualTo(WorkResult.SUCCESS);
          }
          assertThat(message).containsExactly(7);
          assertThat(sum).containsExactly(3);
          return null;
        });
  }

  @Test
  default void waitsAreSummedUpByOperation() {
    ranks(
        2,
        group -> {
          assertThat(group.waits()).isEmpty();
          if (group.rank() == 1) {
            group.store().get("rank 0 has waited");
            group.send(Tensor.of(7), 0, 0).await();
            return null;
          }
          int[] message = {0};
          Work work = group.recv(Tensor.of(message), 1, 0);
          assertThat(work.await(Duration.ofMillis(30))).isFalse();
          assertThat(work.await(Duration.ofMillis(60))).isFalse();
          WaitStatistics waits = group.waits().get(0);
          assertThat(group.waits()).hasSize(1);
          assertThat(waits.operation()).isEqualTo(OpType.RECV);
          assertThat(waits.count()).isEqualTo(2);
          assertThat(waits.seconds()).isGreaterThanOrEqualTo(0.09);
          assertThat(waits.longestSeconds()).isBetween(0.06, waits.seconds() - 0.03);
          group.store().set("rank 0 has waited", "");
          work.future().join();
          work.await();
          assertThat(message).containsExactly(7);
          assertThat(group.waits())
              .as("a work that has ended is not waited for")
              .containsExactly(waits);
          return null;
        });
  }

  @Test
  default void theOperationsOwnDeadlineEndsALongerWait() {
    for (Function<ProcessGroup, Work> operation :
        List.<Function<ProcessGroup, Work>>of(
            group -> group.allReduce(Tensor.of(1f), ReduceOp.SUM),
            group -> group.recv(Tensor.of(1f), 1, 0),
            group -> group.recvAny(Tensor.of(1f), 0),
            group -> group.send(Tensor.of(1f), 1, 0))) {
      CountDownLatch timedOut = new CountDownLatch(1);
      ranks(
          2,
          group -> {
            if (group.rank() == 1) {
              timedOut.await();
              return null;
            }
            try {
              Work work = operation.apply(group.withTimeout(Duration.ofMillis(100)));
              assertThatThrownBy(() -> work.await(Duration.ofDays(100_000)))
                  .isInstanceOf(CollectiveTimeoutException.class)
                  .hasMessageContaining(work.opType().label() + " #0")
                  .hasMessageContaining("timed out after 0.1 s");
              assertThat(work.isCompleted()).isTrue();
              assertThat(work.isSuccess()).isFalse();
              assertThat(work.exception()).isInstanceOf(CollectiveTimeoutException.class);
              assertThat(work.result().join()).isEqualTo(WorkResult.TIMEOUT);
              assertThat(work.durationMillis()).isPresent();
              assertThatThrownBy(() -> get(work)).hasCause(work.exception());
            } finally {
              timedOut.countDown();
            }
            return null;
          });
    }
  }

  @Test
  default void aFailureThatNobodyAwaitedFailsWhatComesLater() {
    // A barrier of the group would not do: the abort may end it on the rank that leaves it last.
    CountDownLatch begun = new CountDownLatch(2);
    ranks(
        2,
        group -> {
          Work forgotten = group.recv(Tensor.of(1f), 1 - group.rank(), 9);
          begun.countDown();
          begun.await();
          if (group.rank() == 1) {
            group.abort(new IllegalStateException("the data is wrong"));
          }
          assertThatThrownBy(() -> get(forgotten)).isInstanceOf(ExecutionException.class);
          assertThat(forgotten.isCompleted()).isTrue();
          assertThat(forgotten.exception()).hasMessageContaining("the data is wrong");
          assertThat(forgotten.result().join()).isEqualTo(WorkResult.COMM_ERROR);
          assertThatThrownBy(() -> group.allReduce(Tensor.of(1f), ReduceOp.SUM))
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("the data is wrong");
          return null;
        });
  }

  @Test
  default void messagesThatNobodyHoldsStillArrive() {
    ranks(
        2,
        group -> {
          int[] received = new int[20];
          for (int i = 0; i < received.length; i++) {
            if (group.rank() == 0) {
              group.send(Tensor.of(i + 1), 1, i);
            } else {
              group.recv(Tensor.of(received).slice(i, 1), 0, i);
            }
          }
          System.gc();
          Eventually.holds(
              () ->
                  group.flightRecorder().records().stream()
                      .allMatch(record -> record.state() == FlightRecord.State.COMPLETED),
              () -> group.flightRecorder().records().toString());
          for (int i = 0; group.rank() == 1 && i < received.length; i++) {
            assertThat(received[i]).isEqualTo(i + 1);
          }
          group.barrier().await();
          return null;
        });
  }

  /** Makes another rank late each time, for longer than a rank spins before it sleeps. */
  @Test
  default void aRankThatComesLateFindsTheOthersAsleepAndWakesThem() {
    ranks(
        3,
        group -> {
          for (int round = 0; round < 30; round++) {
            if (round % 3 == group.rank()) {
              LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1 + round % 4));
            }
            int[] sums = new int[round % 2 == 0 ? 1 : 5000];
            Arrays.fill(sums, round + group.rank());
            group.allReduce(Tensor.of(sums), ReduceOp.SUM).await();
            assertThat(sums).containsOnly(3 * round + 3);
            group.barrier().await();
          }
          return null;
        });
  }

  @Test
  default void aBarrierComesAfterTheCollectivesBegunBefore() {
    ranks(
        3,
        group -> {
          List<Work> before = new ArrayList<>();
          int[] sums = new int[20_000];
          for (int i = 0; i < 10; i++) {
            before.add(group.allReduce(Tensor.of(sums), ReduceOp.SUM));
          }
          group.barrier().await();
          assertThat(before).allMatch(Work::isSuccess);
          return null;
        });
  }

  @Test
  default void oneFailureFailsTheWholeBlock() {
    CountDownLatch timedOut = new CountDownLatch(1);
    ranks(
        2,
        group -> {
          int[] sum = {1};
          group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
          if (group.rank() == 1) {
            timedOut.await();
            return null;
          }
          try {
            Coalescing block = group.coalesce();
            Work send;
            Work receive;
            try (block) {
              // The send is begun before the receive can be overdue.
              send = group.send(Tensor.of(sum), 1, 0);
              receive = group.withTimeout(Duration.ofMillis(100)).recv(Tensor.of(sum), 1, 0);
            }
            Work work = block.work();
            assertThatThrownBy(work::await).isInstanceOf(CollectiveTimeoutException.class);
            assertThatThrownBy(send::await).isInstanceOf(CollectiveTimeoutException.class);
            assertThat(work.isCompleted()).isTrue();
            assertThat(work.isSuccess()).isFalse();
            assertThat(receive.exception()).isInstanceOf(CollectiveTimeoutException.class);
            assertThat(work.exception()).isSameAs(send.exception());
            assertThat(work.result().join()).isEqualTo(WorkResult.TIMEOUT);
            assertThatThrownBy(() -> get(work)).isInstanceOf(ExecutionException.class);
            assertThatThrownBy(work::sourceRank).isInstanceOf(IllegalStateException.class);
          } finally {
            timedOut.countDown();
          }
          return null;
        });
  }

  @Test
  default void aBlockHasNotEndedBeforeItsLastOperationHas() {
    ranks(
        2,
        group -> {
          int[] first = {1};
          int[] second = {2 + group.rank()};
          if (group.rank() == 1) {
            Work tooLong = group.send(Tensor.of(new int[2]), 0, 0);
            assertThatThrownBy(tooLong::await).isInstanceOf(CollectiveMismatchException.class);
            group.store().get("rank 0 waits");
            group.send(Tensor.of(second), 0, 1).await();
            return null;
          }
          Coalescing block = group.coalesce();
          Work mismatched;
          try (block) {
            mismatched = group.recv(Tensor.of(first), 1, 0);
            group.recv(Tensor.of(second), 1, 1);
          }
          Eventually.holds(mismatched::isCompleted, mismatched::toString);
          assertThat(block.work().isCompleted()).isFalse();
          assertThat(block.work().await(Duration.ZERO)).isFalse();
          group.store().set("rank 0 waits", new byte[0]);
          assertThatThrownBy(() -> block.work().await())
              .isInstanceOf(CollectiveMismatchException.class);
          assertThat(second).containsExactly(3);
          assertThatThrownBy(() -> block.work().await(PATIENCE))
              .isInstanceOf(CollectiveMismatchException.class);
          return null;
        });
  }

  @Test
  default void manyThreadsMayAwaitOneWork() {
    ranks(
        2,
        group -> {
          int[] sum = {1};
          Work work = group.rank() == 0 ? group.allReduce(Tensor.of(sum), ReduceOp.SUM) : null;
          List<CompletableFuture<Boolean>> waiters = new ArrayList<>();
          for (int i = 0; work != null && i < 8; i++) {
            boolean bounded = i % 2 == 0;
            CompletableFuture<Boolean> waiter = new CompletableFuture<>();
            waiters.add(waiter);
            Thread thread =
                new Thread(
                    () -> {
                      if (bounded) {
                        waiter.complete(work.await(PATIENCE));
                      } else {
                        work.await();
                        waiter.complete(true);
                      }
                    });
            thread.setDaemon(true);
            thread.start();
          }
          if (group.rank() == 0) {
            group.store().set("threads wait", new byte[0]);
          } else {
            group.store().get("threads wait");
            group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
          }
          for (CompletableFuture<Boolean> waiter : waiters) {
            assertThat(waiter.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
          }
          group.barrier().await();
          assertThat(sum).containsExactly(2);
          return null;
        });
  }

  @Test
  default void threadsExchangeMessagesOfTheirOwnTags() {
    int threads = 4;
    int messages = 100;
    ranks(
        2,
        group -> {
          List<CompletableFuture<Void>> done = new ArrayList<>();
          for (int t = 0; t < threads; t++) {
            int tag = t;
            done.add(
                CompletableFuture.runAsync(
                    () -> {
                      for (int i = 0; i < messages; i++) {
                        int[] value = {group.rank() == 0 ? 1000 * tag + i : -1};
                        Work work =
                            group.rank() == 0
                                ? group.send(Tensor.of(value), 1, tag)
                                : group.recv(Tensor.of(value), 0, tag);
                        work.await();
                        assertThat(value).containsExactly(1000 * tag + i);
                      }
                    },
                    task -> {
                      Thread thread = new Thread(task, "tag-" + tag);
                      thread.setDaemon(true);
                      thread.start();
                    }));
          }
          for (CompletableFuture<Void> each : done) {
            each.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
          }
          assertThat(group.flightRecorder().records())
              .extracting(FlightRecord::sequenceNumber)
              .doesNotHaveDuplicates()
              .hasSize(threads * messages);
          return null;
        });
  }

  @Test
  default void anExtensionOfTheTimeoutEndsWithTheFirstOperationThatHadIt() {
    ranks(
        2,
        group -> {
          ProcessGroup hasty = group.withTimeout(Duration.ofMillis(300));
          if (group.rank() == 0) {
            assertThatThrownBy(() -> group.extendTimeout(Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class);
            group.extendTimeout(PATIENCE);
            Work slow = hasty.barrier();
            assertThat(slow.await(Duration.ofMillis(600))).isFalse();
            group.store().set("the timeout is over", new byte[] {1});
            slow.await();
            group.store().get("rank 1 has left the barrier");
            assertThatThrownBy(() -> hasty.barrier().await())
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("timed out after 0.3 s");
          } else {
            group.store().get("the timeout is over");
            group.barrier().await();
            group.store().set("rank 1 has left the barrier", new byte[0]);
            Eventually.holds(() -> hasFailed(group), () -> "the group does not fail");
          }
          return null;
        });
  }

  private static boolean hasFailed(ProcessGroup group) {
    try {
      group.allocate(DType.INT8, 1);
      return false;
    } catch (CollectiveException e) {
      return true;
    }
  }
}
