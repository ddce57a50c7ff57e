package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.recorder.FlightRecord;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** What a work tells, and what waiting for it means, for every operation. */
@ExtendWith(LeakCheck.class)
abstract class WorkContractTest {

  private static final long PATIENCE_SECONDS = 30;
  private static final Duration PATIENCE = Duration.ofSeconds(PATIENCE_SECONDS);

  /** The paths under test. */
  abstract GroupOptions options();

  private <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(size, options(), body);
  }

  private static List<Tensor> get(Work work) throws Exception {
    return work.future().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  private static List<Tensor> each(int size) {
    List<Tensor> tensors = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      tensors.add(Tensor.of(1));
    }
    return tensors;
  }

  @Test
  void aWaitThatEndsEarlyHasNoEffectOnTheOperation() {
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
  void theOperationsOwnDeadlineEndsALongerWait() {
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
  void aFailureThatNobodyAwaitedFailsWhatComesLater() {
    ranks(
        2,
        group -> {
          Work forgotten = group.recv(Tensor.of(1f), 1 - group.rank(), 9);
          group.barrier().await();
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
  void messagesThatNobodyHoldsStillArrive() {
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

  @Test
  void theFutureHasTheTensorsThatTheOperationWrote() {
    ranks(
        2,
        group -> {
          int rank = group.rank();
          Tensor one = Tensor.of(1);
          Tensor two = Tensor.of(1, 1);
          List<Tensor> many = each(2);
          List<Tensor> atRoot = rank == 1 ? each(2) : List.of();
          assertThat(get(group.broadcast(one, 0))).containsExactly(one);
          assertThat(get(group.allReduce(one, ReduceOp.SUM))).containsExactly(one);
          assertThat(get(group.allReduceCoalesced(many, ReduceOp.SUM)))
              .containsExactlyElementsOf(many);
          assertThat(get(group.reduce(one, ReduceOp.SUM, 1)))
              .isEqualTo(rank == 1 ? List.of(one) : List.of());
          assertThat(get(group.allGather(two, Tensor.of(1)))).containsExactly(two);
          assertThat(get(group.allGather(many, Tensor.of(1)))).containsExactlyElementsOf(many);
          assertThat(get(group.gather(atRoot, Tensor.of(1), 1))).isEqualTo(atRoot);
          assertThat(get(group.scatter(one, atRoot, 1))).containsExactly(one);
          assertThat(get(group.reduceScatter(one, Tensor.of(1, 1), ReduceOp.SUM)))
              .containsExactly(one);
          assertThat(get(group.reduceScatter(one, each(2), ReduceOp.SUM))).containsExactly(one);
          assertThat(get(group.allToAll(two, Tensor.of(1, 1)))).containsExactly(two);
          assertThat(get(group.allToAll(many, each(2)))).containsExactlyElementsOf(many);
          assertThat(get(group.barrier())).isEmpty();
          Work message = rank == 0 ? group.send(one, 1, 0) : group.recv(one, 0, 0);
          assertThat(get(message)).isEqualTo(rank == 0 ? List.of() : List.of(one));
          return null;
        });
  }

  @Test
  void whatFollowsAnOperationIsChainedToItsFuture() {
    ranks(
        3,
        group -> {
          double[] gradient = {group.rank(), 3};
          CompletableFuture<double[]> mean =
              group
                  .allReduce(Tensor.of(gradient), ReduceOp.SUM)
                  .future()
                  .thenApply(
                      tensors -> {
                        double[] sum = (double[]) tensors.get(0).array();
                        return new double[] {sum[0] / group.size(), sum[1] / group.size()};
                      });
          assertThat(mean.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).containsExactly(1, 3);
          // Whoever completes the future that they got completes nobody else's.
          Work work = group.barrier();
          work.future().complete(Collections.emptyList());
          work.await();
          return null;
        });
  }

  @Test
  void everyOperationTellsItsTypeAndItsNumber() {
    ranks(
        2,
        group -> {
          int rank = group.rank();
          List<Tensor> atRoot = rank == 0 ? each(2) : List.of();
          List<Supplier<Work>> collectives =
              List.of(
                  () -> group.broadcast(Tensor.of(1), 0),
                  () -> group.allReduce(Tensor.of(1), ReduceOp.SUM),
                  () -> group.allReduceCoalesced(each(2), ReduceOp.SUM),
                  () -> group.reduce(Tensor.of(1), ReduceOp.SUM, 0),
                  () -> group.allGather(each(2), Tensor.of(1)),
                  () -> group.allGather(Tensor.of(1, 1), Tensor.of(1)),
                  () -> group.gather(atRoot, Tensor.of(1), 0),
                  () -> group.scatter(Tensor.of(1), atRoot, 0),
                  () -> group.reduceScatter(Tensor.of(1), each(2), ReduceOp.SUM),
                  () -> group.reduceScatter(Tensor.of(1), Tensor.of(1, 1), ReduceOp.SUM),
                  () -> group.allToAll(Tensor.of(1, 1), Tensor.of(1, 1)),
                  () -> group.allToAll(each(2), each(2)),
                  group::barrier);
          List<OpType> types =
              List.of(
                  OpType.BROADCAST,
                  OpType.ALL_REDUCE,
                  OpType.ALL_REDUCE_COALESCED,
                  OpType.REDUCE,
                  OpType.ALL_GATHER,
                  OpType.ALL_GATHER_INTO,
                  OpType.GATHER,
                  OpType.SCATTER,
                  OpType.REDUCE_SCATTER,
                  OpType.REDUCE_SCATTER_INTO,
                  OpType.ALL_TO_ALL_INTO,
                  OpType.ALL_TO_ALL,
                  OpType.BARRIER);
          for (int i = 0; i < types.size(); i++) {
            Work collective = collectives.get(i).get();
            // Messages in between do not count among the collectives, nor the other way round.
            Work message =
                rank == 0 ? group.send(Tensor.of(1), 1, 0) : group.recv(Tensor.of(1), 0, 0);
            collective.await();
            message.await();
            assertThat(collective.opType()).isEqualTo(types.get(i));
            assertThat(collective.sequenceNumber()).isEqualTo(i);
            assertThat(message.opType()).isEqualTo(rank == 0 ? OpType.SEND : OpType.RECV);
            assertThat(message.sequenceNumber()).isEqualTo(i);
          }
          return null;
        });
  }

  @Test
  void aBarrierComesAfterTheCollectivesBegunBefore() {
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
  void oneFailureFailsTheWholeBlock() {
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
            ProcessGroup view = group.withTimeout(Duration.ofMillis(100));
            Coalescing block = view.coalesce();
            Work send;
            Work receive;
            try (block) {
              receive = view.recv(Tensor.of(sum), 1, 0);
              send = view.send(Tensor.of(sum), 1, 0);
            }
            Work work = block.work();
            assertThatThrownBy(work::await).isInstanceOf(CollectiveTimeoutException.class);
            assertThatThrownBy(send::await).isInstanceOf(CollectiveTimeoutException.class);
            assertThat(work.isCompleted()).isTrue();
            assertThat(work.isSuccess()).isFalse();
            assertThat(work.exception()).isSameAs(receive.exception());
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
  void manyThreadsMayAwaitOneWork() {
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
  void threadsExchangeMessagesOfTheirOwnTags() {
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
  void onlyAReceiveThatIsDoneHasASource() {
    ranks(
        2,
        group -> {
          Work barrier = group.barrier();
          barrier.await();
          assertThatThrownBy(barrier::sourceRank)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("Only a receive has a source rank")
              .hasMessageContaining("barrier #0");
          if (group.rank() == 0) {
            Work receive = group.recvAny(Tensor.of(1), 0);
            assertThatThrownBy(receive::sourceRank)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("not done well");
            group.store().set("asked", new byte[0]);
            receive.await();
            assertThat(receive.sourceRank()).isEqualTo(1);
          } else {
            group.store().get("asked");
            Work send = group.send(Tensor.of(1), 0, 0);
            send.await();
            assertThatThrownBy(send::sourceRank).isInstanceOf(IllegalStateException.class);
          }
          return null;
        });
  }

  @Test
  void theFlightRecorderHasMessagesWithPeerAndTag() {
    ranks(
        2,
        group -> {
          Work message =
              group.rank() == 0
                  ? group.send(Tensor.of(1L, 2L), 1, 42)
                  : group.recv(Tensor.of(1L, 2L), 0, 42);
          message.await();
          assertThat(group.flightRecorder().records())
              .singleElement()
              .satisfies(
                  record -> {
                    assertThat(record.opType()).isEqualTo(message.opType());
                    assertThat(record.detail())
                        .contains("rank " + (1 - group.rank()))
                        .contains("tag 42");
                    assertThat(record.state()).isEqualTo(FlightRecord.State.COMPLETED);
                    assertThat(record.dtype()).isEqualTo("int64");
                    assertThat(record.inputCount() + record.outputCount()).isEqualTo(2);
                    assertThat(record.timeoutMillis()).isEqualTo(group.timeout().toMillis());
                  });
          return null;
        });
  }

  @Test
  void memoryThatTheGroupAllocatesIsZerosAndServesEveryType() {
    ranks(
        2,
        group -> {
          for (DType dtype : DType.values()) {
            Tensor tensor = group.allocate(dtype, 5);
            assertThat(tensor.dtype()).isEqualTo(dtype);
            assertThat(tensor.count()).isEqualTo(5);
            assertThat(tensor.byteSize()).isEqualTo(5L * dtype.bytes());
            Object values = Tensor.allocate(dtype, 5).array();
            tensor.copyTo(values);
            assertThat(values).isEqualTo(Tensor.allocate(dtype, 5).array());
            group.broadcast(tensor, 1).await();
          }
          Tensor sum = group.allocate(DType.INT32, 3);
          sum.copyFrom(new int[] {1, 2, 3});
          group.allReduce(sum, ReduceOp.SUM).await();
          int[] values = new int[3];
          sum.copyTo(values);
          assertThat(values).containsExactly(2, 4, 6);
          return null;
        });
  }

  @Test
  void aTensorWithoutDimensionsIsOneElement() {
    ranks(
        3,
        group -> {
          Tensor scalar = Tensor.of(group.rank() + 1L).reshape();
          group.allReduce(scalar, ReduceOp.SUM).await();
          assertThat((long[]) scalar.array()).containsExactly(6);
          assertThat(scalar.shape()).isEmpty();
          Tensor all = Tensor.of(new long[3]);
          group.allGather(all, Tensor.of((long) group.rank()).reshape()).await();
          assertThat((long[]) all.array()).containsExactly(0, 1, 2);
          assertThatThrownBy(
                  () -> group.allToAll(Tensor.of(1L).reshape(), scalar, null, new long[] {1, 0, 0}))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("no dimension to split along");
          return null;
        });
  }
}
