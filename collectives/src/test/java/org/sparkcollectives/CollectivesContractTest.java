package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.tensor.BFloat16;
import org.sparkcollectives.tensor.Float16;
import org.sparkcollectives.testing.GroupRuns;

/** What every path between ranks must do, against sums that a child could check. */
@org.junit.jupiter.api.extension.ExtendWith(org.sparkcollectives.testing.LeakCheck.class)
abstract class CollectivesContractTest {

  /** The paths under test. */
  abstract GroupOptions options();

  /** What hosts the ranks. */
  RankContext context() {
    return RankContext.process();
  }

  /** What hosts one rank. */
  RankContext context(int rank) {
    return context();
  }

  private <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(size, options(), this::context, body);
  }

  /** The i-th element that a rank contributes: small enough for exact sums in every type. */
  private static int element(int rank, int i) {
    return rank + 1 + i % 5;
  }

  private static Tensor contribution(DType dtype, int rank, int count) {
    double[] values = new double[count];
    for (int i = 0; i < count; i++) {
      values[i] = element(rank, i);
    }
    return tensor(dtype, values);
  }

  private static Tensor tensor(DType dtype, double... values) {
    return switch (dtype) {
      case FLOAT32 -> {
        float[] array = new float[values.length];
        for (int i = 0; i < array.length; i++) {
          array[i] = (float) values[i];
        }
        yield Tensor.of(array);
      }
      case FLOAT64 -> Tensor.of(values.clone());
      case INT32 -> Tensor.of(Arrays.stream(values).mapToInt(v -> (int) v).toArray());
      case INT64 -> Tensor.of(Arrays.stream(values).mapToLong(v -> (long) v).toArray());
      default -> throw new IllegalArgumentException(dtype.toString());
    };
  }

  private static double[] values(Tensor tensor) {
    Object array = tensor.array();
    if (array instanceof float[] floats) {
      double[] values = new double[floats.length];
      for (int i = 0; i < values.length; i++) {
        values[i] = floats[i];
      }
      return values;
    }
    if (array instanceof int[] ints) {
      return Arrays.stream(ints).asDoubleStream().toArray();
    }
    if (array instanceof long[] longs) {
      return Arrays.stream(longs).asDoubleStream().toArray();
    }
    return (double[]) array;
  }

  private static double[] model(ReduceOp op, int size, int count) {
    double[] expected = new double[count];
    for (int i = 0; i < count; i++) {
      double value = element(0, i);
      for (int rank = 1; rank < size; rank++) {
        double other = element(rank, i);
        value =
            switch (op.kind()) {
              case SUM, AVG -> value + other;
              case PRODUCT -> value * other;
              case MIN -> Math.min(value, other);
              case MAX -> Math.max(value, other);
              default -> throw new IllegalArgumentException(op.toString());
            };
      }
      expected[i] = op.kind() == ReduceOp.Kind.AVG ? value / size : value;
    }
    return expected;
  }

  static Stream<Arguments> reductions() {
    List<Arguments> cases = new ArrayList<>();
    for (DType dtype : List.of(DType.FLOAT32, DType.FLOAT64, DType.INT32, DType.INT64)) {
      for (ReduceOp op :
          List.of(ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX)) {
        if (op.supports(dtype)) {
          cases.add(Arguments.of(dtype, op));
        }
      }
    }
    return cases.stream();
  }

  private static final int[] COUNTS = {0, 1, 2, 3, 17, 1000, 70_001};

  private static void assertClose(Tensor actual, double[] expected) {
    double[] values = values(actual);
    assertThat(values).hasSameSizeAs(expected);
    for (int i = 0; i < values.length; i++) {
      assertThat(values[i]).isCloseTo(expected[i], within(expected[i]));
    }
  }

  private static org.assertj.core.data.Offset<Double> within(double value) {
    return org.assertj.core.data.Offset.offset(Math.abs(value) * 1e-6);
  }

  @ParameterizedTest
  @MethodSource("reductions")
  void allReduceGivesEveryRankTheReduction(DType dtype, ReduceOp op) {
    for (int size : new int[] {1, 2, 3, 4, 7}) {
      ranks(
          size,
          group -> {
            for (int count : COUNTS) {
              Tensor tensor = contribution(dtype, group.rank(), count);
              group.allReduce(tensor, op).await();
              assertClose(tensor, model(op, size, count));
            }
            return null;
          });
    }
  }

  @Test
  void allReduceGivesEveryRankTheSameBitsEachTime() {
    List<float[]> first = unevenSums();
    List<float[]> second = unevenSums();
    for (int rank = 0; rank < first.size(); rank++) {
      assertThat(first.get(rank)).isEqualTo(first.get(0));
      assertThat(second.get(rank)).isEqualTo(first.get(0));
    }
  }

  private List<float[]> unevenSums() {
    return ranks(
        4,
        group -> {
          float[] values = new float[10_007];
          for (int i = 0; i < values.length; i++) {
            values[i] = (float) Math.sin(i * 0.37 + group.rank()) * (float) Math.pow(10, i % 7);
          }
          group.allReduce(Tensor.of(values), ReduceOp.SUM).await();
          return values;
        });
  }

  /** Halves are added up by the owner of a part, not around the ring. */
  @ParameterizedTest
  @EnumSource(names = {"FLOAT16", "BFLOAT16"})
  void halvesAreReducedInFloat32AndRoundedOnce(DType dtype) {
    int size = 4;
    short one = halves(dtype, 1f, 1)[0];
    // Too small to change 1 by itself; the three of them together are not.
    float small = dtype == DType.FLOAT16 ? 0x1p-11f : 0x1p-8f;
    ranks(
        size,
        group -> {
          for (int count : COUNTS) {
            short[] values =
                group.rank() == 0 ? halves(dtype, 1f, count) : halves(dtype, small, count);
            group.allReduce(Tensor.wrap(dtype, values), ReduceOp.SUM).await();
            float exact = 1 + 3 * small;
            assertThat(values).containsOnly(halves(dtype, exact, count));
            assertThat(count == 0 || values[0] != one).isTrue();

            short[] reduced = halves(dtype, group.rank() + 1f, count);
            group.reduce(Tensor.wrap(dtype, reduced), ReduceOp.SUM, 2).await();
            assertThat(reduced)
                .isEqualTo(halves(dtype, group.rank() == 2 ? 10f : group.rank() + 1f, count));

            short[] part = new short[count];
            group
                .reduceScatter(
                    Tensor.wrap(dtype, part),
                    Tensor.wrap(dtype, halves(dtype, group.rank() + 1f, count * size)),
                    ReduceOp.AVG)
                .await();
            assertThat(part).isEqualTo(halves(dtype, 2.5f, count));
          }
          return null;
        });
  }

  private static short[] halves(DType dtype, float value, int count) {
    short[] values = new short[count];
    Arrays.fill(
        values, dtype == DType.FLOAT16 ? Float16.fromFloat(value) : BFloat16.fromFloat(value));
    return values;
  }

  @Test
  void anInterruptOfTheWaitingThreadAbortsTheGroup() {
    ranks(
        2,
        group -> {
          if (group.rank() == 0) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> group.recv(Tensor.of(0), 1, 0).await())
                .isInstanceOf(GroupAbortedException.class)
                .hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).isTrue();
          } else {
            assertThatThrownBy(() -> group.allReduce(Tensor.of(0), ReduceOp.SUM).await())
                .isInstanceOfSatisfying(
                    PeerFailedException.class,
                    e -> assertThat(e.failure().kind()).isEqualTo(Failure.Kind.KILLED));
          }
          return null;
        });
  }

  @Test
  void reduceChangesTheRootOnly() {
    for (int size : new int[] {1, 2, 3, 5, 8}) {
      ranks(
          size,
          group -> {
            for (int root = 0; root < size; root++) {
              for (int count : COUNTS) {
                Tensor tensor = contribution(DType.FLOAT64, group.rank(), count);
                double[] before = values(tensor).clone();
                group.reduce(tensor, ReduceOp.SUM, root).await();
                boolean atRoot = group.rank() == root;
                assertThat(values(tensor))
                    .isEqualTo(atRoot ? model(ReduceOp.SUM, size, count) : before);
              }
            }
            return null;
          });
    }
  }

  @Test
  void broadcastGivesEveryRankTheRootsTensor() {
    for (int size : new int[] {1, 2, 3, 5, 8}) {
      ranks(
          size,
          group -> {
            for (int root = 0; root < size; root++) {
              for (int count : COUNTS) {
                Tensor tensor = contribution(DType.INT64, group.rank(), count);
                group.broadcast(tensor, root).await();
                assertThat(values(tensor))
                    .isEqualTo(values(contribution(DType.INT64, root, count)));
              }
            }
            return null;
          });
    }
  }

  @Test
  void allGatherPutsTheInputsInRankOrder() {
    for (int size : new int[] {1, 2, 3, 4, 7}) {
      ranks(
          size,
          group -> {
            for (int count : COUNTS) {
              Tensor output = Tensor.allocate(DType.INT32, (long) count * size);
              group.allGather(output, contribution(DType.INT32, group.rank(), count)).await();
              for (int rank = 0; rank < size; rank++) {
                int[] part = new int[count];
                output.slice((long) rank * count, count).copyTo(part);
                assertThat(part).isEqualTo(contribution(DType.INT32, rank, count).array());
              }
            }
            return null;
          });
    }
  }

  @Test
  void allGatherTakesInputsOfDifferentCounts() {
    ranks(
        4,
        group -> {
          List<Tensor> outputs = new ArrayList<>();
          for (int rank = 0; rank < 4; rank++) {
            outputs.add(Tensor.allocate(DType.FLOAT32, rank * 1000L));
          }
          Tensor input = contribution(DType.FLOAT32, group.rank(), group.rank() * 1000);
          group.allGather(outputs, input).await();
          for (int rank = 0; rank < 4; rank++) {
            assertThat(values(outputs.get(rank)))
                .isEqualTo(values(contribution(DType.FLOAT32, rank, rank * 1000)));
          }
          return null;
        });
  }

  @ParameterizedTest
  @MethodSource("reductions")
  void reduceScatterLeavesEachRankItsPartAndTheInputAlone(DType dtype, ReduceOp op) {
    for (int size : new int[] {1, 2, 3, 4}) {
      ranks(
          size,
          group -> {
            for (int part : new int[] {0, 1, 5, 20_001}) {
              Tensor input = contribution(dtype, group.rank(), part * size);
              double[] before = values(input).clone();
              Tensor output = Tensor.allocate(dtype, part);
              group.reduceScatter(output, input, op).await();
              int from = group.rank() * part;
              assertClose(
                  output, Arrays.copyOfRange(model(op, size, part * size), from, from + part));
              assertThat(values(input)).isEqualTo(before);
            }
            return null;
          });
    }
  }

  @Test
  void reduceScatterTakesPartsOfDifferentCounts() {
    int size = 3;
    ranks(
        size,
        group -> {
          List<Tensor> inputs = new ArrayList<>();
          for (int rank = 0; rank < size; rank++) {
            inputs.add(contribution(DType.FLOAT64, group.rank(), 7 + rank * 5000));
          }
          int count = 7 + group.rank() * 5000;
          Tensor output = Tensor.allocate(DType.FLOAT64, count);
          group.reduceScatter(output, inputs, ReduceOp.SUM).await();
          assertThat(values(output)).isEqualTo(model(ReduceOp.SUM, size, count));
          return null;
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 8})
  void nobodyLeavesABarrierBeforeAllHaveCome(int size) {
    java.util.concurrent.atomic.AtomicInteger arrived =
        new java.util.concurrent.atomic.AtomicInteger();
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
  void operationsThatNobodyAwaitsStillEnd() {
    ranks(
        3,
        group -> {
          List<Tensor> tensors = new ArrayList<>();
          List<Work> works = new ArrayList<>();
          for (int i = 0; i < 50; i++) {
            tensors.add(Tensor.of(1L, group.rank()));
            works.add(group.allReduce(tensors.get(i), ReduceOp.SUM));
          }
          works.get(49).future().get(30, java.util.concurrent.TimeUnit.SECONDS);
          for (int i = 0; i < 50; i++) {
            assertThat(works.get(i).isSuccess()).isTrue();
            assertThat(works.get(i).sequenceNumber()).isEqualTo(i);
            assertThat(tensors.get(i).array()).isEqualTo(new long[] {3, 3});
          }
          return null;
        });
  }

  @Test
  void messagesOfDifferentTagsMayBeReceivedInAnyOrder() {
    ranks(
        2,
        group -> {
          if (group.rank() == 0) {
            Work first = group.send(Tensor.of(1f), 1, 1);
            Work second = group.send(Tensor.of(2f), 1, 2);
            first.await();
            second.await();
          } else {
            float[] two = new float[1];
            float[] one = new float[1];
            Work second = group.recv(Tensor.of(two), 0, 2);
            second.await();
            Work first = group.recv(Tensor.of(one), 0, 1);
            first.await();
            assertThat(two[0]).isEqualTo(2f);
            assertThat(one[0]).isEqualTo(1f);
            assertThat(first.sourceRank()).isEqualTo(0);
          }
          return null;
        });
  }

  @Test
  void aReceivePostedBeforeACollectiveDoesNotBlockIt() {
    ranks(
        2,
        group -> {
          int[] sum = {1};
          int[] message = {0};
          if (group.rank() == 0) {
            Work receive = group.recv(Tensor.of(message), 1, 0);
            group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
            receive.await();
            assertThat(message[0]).isEqualTo(42);
          } else {
            group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
            group.send(Tensor.of(42), 0, 0).await();
          }
          assertThat(sum[0]).isEqualTo(2);
          return null;
        });
  }

  @Test
  void aReceiveFromAnyRankTellsWhoSent() {
    ranks(
        4,
        group -> {
          if (group.rank() == 0) {
            boolean[] seen = new boolean[4];
            for (int i = 1; i < 4; i++) {
              int[] value = new int[1];
              Work receive = group.recvAny(Tensor.of(value), 7);
              receive.await();
              assertThat(receive.sourceRank()).isEqualTo(value[0]);
              seen[value[0]] = true;
            }
            assertThat(seen).containsExactly(false, true, true, true);
          } else {
            group.send(Tensor.of(group.rank()), 0, 7).await();
          }
          return null;
        });
  }

  @Test
  void largeMessagesArriveWhole() {
    ranks(
        2,
        group -> {
          int count = 3_000_001;
          if (group.rank() == 0) {
            group.send(contribution(DType.INT32, 5, count), 1, 0).await();
          } else {
            Tensor tensor = Tensor.allocate(DType.INT32, count);
            group.recv(tensor, 0, 0).await();
            assertThat(tensor.array()).isEqualTo(contribution(DType.INT32, 5, count).array());
          }
          return null;
        });
  }

  @Test
  void aMessageThatDoesNotFitFailsBothSidesAndTheGroupGoesOn() {
    ranks(
        2,
        group -> {
          Work work =
              group.rank() == 0
                  ? group.send(Tensor.of(1f, 2f), 1, 3)
                  : group.recv(Tensor.of(1.0), 0, 3);
          assertThatThrownBy(work::await)
              .isInstanceOf(CollectiveMismatchException.class)
              .hasMessageContaining("Rank 0 sends float32 x 2")
              .hasMessageContaining("rank 1 receives float64 x 1");
          group.barrier().await();
          return null;
        });
  }

  @Test
  void differentCountsFailBothRanksAndNameBoth() {
    ranks(
        2,
        group -> {
          Tensor tensor = Tensor.allocate(DType.FLOAT32, group.rank() == 0 ? 100 : 200);
          assertThatThrownBy(() -> group.allReduce(tensor, ReduceOp.SUM).await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("100")
              .hasMessageContaining("200");
          return null;
        });
  }

  @Test
  void differentCollectivesFailAllRanksAndAreNamed() {
    ranks(
        3,
        group -> {
          Tensor tensor = Tensor.of(1f, 2f, 3f);
          Work work =
              group.rank() == 1
                  ? group.broadcast(tensor, 0)
                  : group.allReduce(tensor, ReduceOp.SUM);
          assertThatThrownBy(work::await)
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("broadcast #0")
              .hasMessageContaining("all-reduce #0");
          return null;
        });
  }

  @Test
  void anAbortFailsThePendingOperationsOfAllRanksWithItsCause() {
    ranks(
        3,
        group -> {
          if (group.rank() == 2) {
            group.abort(new IllegalStateException("the data is wrong"));
            assertThatThrownBy(() -> group.barrier().await())
                .isInstanceOf(GroupAbortedException.class)
                .hasRootCauseMessage("the data is wrong");
          } else {
            assertThatThrownBy(() -> group.allReduce(Tensor.of(1f), ReduceOp.SUM).await())
                .isInstanceOf(PeerFailedException.class)
                .hasMessageContaining("rank 2")
                .hasMessageContaining("the data is wrong")
                .cause()
                .hasMessageContaining("IllegalStateException")
                .hasMessageContaining("anAbortFails");
          }
          return null;
        });
  }

  @Test
  void aWaitInTheGroupsStoreEndsWithTheGroup() {
    ranks(
        3,
        group -> {
          if (group.rank() == 1) {
            group.abort(new IllegalStateException("the data is wrong"));
          }
          assertThatThrownBy(() -> group.store().get("never"))
              .isInstanceOf(StoreException.class)
              .hasMessageContaining(group.name())
              .hasStackTraceContaining("the data is wrong");
          return null;
        });
  }

  @Test
  void theGroupsStoreIsClosedWithTheGroup() {
    List<Store> stores = ranks(2, ProcessGroup::store);
    for (Store store : stores) {
      assertThatThrownBy(() -> store.get("key"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("is closed on rank");
    }
  }

  @Test
  void aRankThatLeavesFailsThoseThatWaitForIt() {
    ranks(
        3,
        group -> {
          group.barrier().await();
          if (group.rank() != 1) {
            assertThatThrownBy(() -> group.allReduce(Tensor.of(1f), ReduceOp.SUM).await())
                .isInstanceOfSatisfying(
                    PeerFailedException.class,
                    e -> {
                      assertThat(e.failure().rank()).isEqualTo(1);
                      assertThat(e.failure().kind()).isEqualTo(Failure.Kind.PEER_FINISHED);
                    });
          }
          return null;
        });
  }

  @Test
  void anOverdueCollectiveNamesTheRanksThatDidNotCome() {
    java.util.concurrent.CountDownLatch over = new java.util.concurrent.CountDownLatch(2);
    ranks(
        3,
        group -> {
          if (group.rank() == 1) {
            over.await();
            return null;
          }
          try {
            assertThatThrownBy(
                    () ->
                        group
                            .withTimeout(Duration.ofMillis(200))
                            .allReduce(Tensor.of(1f), ReduceOp.SUM)
                            .await())
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("all-reduce #0 (float32 x 1, SUM)")
                .hasMessageContaining("rank 1");
          } finally {
            over.countDown();
          }
          return null;
        });
  }

  @Test
  void argumentsAreRefusedBeforeAnythingMovesAndTheGroupGoesOn() {
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
  void aClosedGroupRefusesOperations() {
    ranks(
        2,
        group -> {
          group.close();
          group.close();
          assertThatThrownBy(group::barrier)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("closed");
          return null;
        });
  }

  @Test
  void theFlightRecorderKeepsWhatHappened() {
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
}
