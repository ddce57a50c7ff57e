package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Specifies broadcast, all-gather and barrier, and the order of collectives. */
interface DistributionContract extends RanksUnderTest {

  @Test
  default void broadcastGivesEveryRankTheRootsTensor() {
    for (int size : new int[] {1, 2, 3, 5, 8}) {
      ranks(
          size,
          group -> {
            for (int root = 0; root < size; root++) {
              for (int count : Samples.COUNTS) {
                Tensor tensor = Samples.contribution(DType.INT64, group.rank(), count);
                group.broadcast(tensor, root).await();
                assertThat(Samples.values(tensor))
                    .isEqualTo(Samples.values(Samples.contribution(DType.INT64, root, count)));
              }
            }
            return null;
          });
    }
  }

  @Test
  default void allGatherPutsTheInputsInRankOrder() {
    for (int size : new int[] {1, 2, 3, 4, 7}) {
      ranks(
          size,
          group -> {
            for (int count : Samples.COUNTS) {
              Tensor output = Tensor.allocate(DType.INT32, (long) count * size);
              group
                  .allGather(output, Samples.contribution(DType.INT32, group.rank(), count))
                  .await();
              for (int rank = 0; rank < size; rank++) {
                int[] part = new int[count];
                output.slice((long) rank * count, count).copyTo(part);
                assertThat(part).isEqualTo(Samples.contribution(DType.INT32, rank, count).array());
              }
            }
            return null;
          });
    }
  }

  @Test
  default void allGatherTakesInputsOfDifferentCounts() {
    ranks(
        4,
        group -> {
          List<Tensor> outputs = new ArrayList<>();
          for (int rank = 0; rank < 4; rank++) {
            outputs.add(Tensor.allocate(DType.FLOAT32, rank * 1000L));
          }
          Tensor input = Samples.contribution(DType.FLOAT32, group.rank(), group.rank() * 1000);
          group.allGather(outputs, input).await();
          for (int rank = 0; rank < 4; rank++) {
            assertThat(Samples.values(outputs.get(rank)))
                .isEqualTo(Samples.values(Samples.contribution(DType.FLOAT32, rank, rank * 1000)));
          }
          return null;
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 8})
  default void nobodyLeavesABarrierBeforeAllHaveCome(int size) {
    AtomicInteger arrived = new AtomicInteger();
    ranks(
        size,
        group -> {
          for (int round = 1; round <= 20; round++) {
            arrived.incrementAndGet();
            group.barrier().await();
            assertThat(arrived.get()).isGreaterThanOrEqualTo(round * size);
          }
          return null;
        });
  }

  @Test
  default void operationsThatNobodyAwaitsStillEnd() {
    ranks(
        3,
        group -> {
          List<Tensor> tensors = new ArrayList<>();
          List<Work> works = new ArrayList<>();
          for (int i = 0; i < 50; i++) {
            tensors.add(Tensor.of(1L, group.rank()));
            works.add(group.allReduce(tensors.get(i), ReduceOp.SUM));
          }
          works.get(49).future().get(30, TimeUnit.SECONDS);
          for (int i = 0; i < 50; i++) {
            assertThat(works.get(i).isSuccess()).isTrue();
            assertThat(works.get(i).sequenceNumber()).isEqualTo(i);
            assertThat(tensors.get(i).array()).isEqualTo(new long[] {3, 3});
          }
          return null;
        });
  }

  @Test
  default void argumentsAreRefusedBeforeAnythingMovesAndTheGroupGoesOn() {
    ranks(
        2,
        group -> {
          Tensor one = Tensor.of(1f);
          assertThatThrownBy(() -> group.broadcast(one, 2))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("broadcast")
              .hasMessageContaining("0 to 1, not 2");
          assertThatThrownBy(() -> group.allReduce(Tensor.of(1, 2), ReduceOp.AVG))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("AVG is not defined for int32");
          assertThatThrownBy(() -> group.allGather(Tensor.of(1f, 2f, 3f), one))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("2, not 3");
          assertThatThrownBy(() -> group.allGather(Tensor.of(1.0, 2.0), one))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("float64");
          assertThatThrownBy(() -> group.send(one, group.rank(), 0))
              .isInstanceOf(IllegalArgumentException.class);
          assertThatThrownBy(() -> group.recvAny(one, -1))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("-1");
          Work work = group.allReduce(one, ReduceOp.SUM);
          work.await();
          assertThat(work.sequenceNumber()).isZero();
          assertThat(one.array()).isEqualTo(new float[] {2});
          return null;
        });
  }

  @Test
  default void theFlightRecorderKeepsWhatHappened() {
    ranks(
        2,
        group -> {
          group.allReduce(Tensor.of(1f, 2f), ReduceOp.SUM).await();
          group.barrier().await();
          assertThat(group.flightRecorder().records())
              .hasSize(2)
              .allSatisfy(
                  record -> {
                    assertThat(record.state().toString()).isEqualTo("COMPLETED");
                    assertThat(record.completedNanos())
                        .isGreaterThanOrEqualTo(record.startedNanos());
                  })
              .first()
              .satisfies(
                  record -> {
                    assertThat(record.opType()).isEqualTo(OpType.ALL_REDUCE);
                    assertThat(record.dtype()).isEqualTo("float32");
                    assertThat(record.inputCount()).isEqualTo(2);
                  });
          return null;
        });
  }

  @Test
  default void recordsHaveTheShapesOfTheTensors() {
    ranks(
        2,
        group -> {
          Tensor matrix = Tensor.allocate(DType.FLOAT32, 3, 4);
          Tensor both = Tensor.allocate(DType.FLOAT32, 2, 3, 4);
          group.allReduce(matrix).await();
          group.allGather(both, matrix).await();
          group.allGather(List.of(both.narrow(0, 1), both.narrow(1, 1)), matrix).await();
          group.barrier().await();
          List<FlightRecord> records = group.flightRecorder().records();
          List<Long> shape = List.of(3L, 4L);
          assertThat(records)
              .extracting(FlightRecord::inputShapes)
              .containsExactly(List.of(shape), List.of(shape), List.of(shape), List.of());
          assertThat(records)
              .extracting(FlightRecord::outputShapes)
              .containsExactly(
                  List.of(shape),
                  List.of(List.of(2L, 3L, 4L)),
                  List.of(List.of(1L, 3L, 4L), List.of(1L, 3L, 4L)),
                  List.of());
          if (group.rank() == 0) {
            group.send(matrix, 1).await();
          } else {
            group.recv(matrix, 0).await();
          }
          FlightRecord message = group.flightRecorder().records().get(4);
          assertThat(group.rank() == 0 ? message.inputShapes() : message.outputShapes())
              .containsExactly(shape);
          assertThat(group.rank() == 0 ? message.outputShapes() : message.inputShapes()).isEmpty();
          assertThat(group.flightRecorder().toJson()).contains("\"input_sizes\":[[3,4]]");
          return null;
        });
  }
}
