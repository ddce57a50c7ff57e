package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Specifies what a work reports: its type, its number, its tensors, its source. */
interface WorkResultsContract extends RanksUnderTest {

  /** A time far longer than any of these waits. */
  long PATIENCE_SECONDS = 30;

  Duration PATIENCE = Duration.ofSeconds(PATIENCE_SECONDS);

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
  default void theFutureHasTheTensorsThatTheOperationWrote() {
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
  default void whatFollowsAnOperationIsChainedToItsFuture() {
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
          // A caller that completes its future completes no other caller's.
          Work work = group.barrier();
          work.future().complete(Collections.emptyList());
          work.await();
          return null;
        });
  }

  @Test
  default void everyOperationTellsItsTypeAndItsNumber() {
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
  default void onlyAReceiveThatIsDoneHasASource() {
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
  default void theFlightRecorderHasMessagesWithPeerAndTag() {
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
  default void memoryThatTheGroupAllocatesIsZerosAndServesEveryType() {
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
  default void aTensorWithoutDimensionsIsOneElement() {
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
