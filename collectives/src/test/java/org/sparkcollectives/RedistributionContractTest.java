package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Operations that hand parts around, and several operations as one, over every path. */
@ExtendWith(LeakCheck.class)
abstract class RedistributionContractTest {

  private static final int[] SIZES = {1, 2, 3, 4, 7};

  /** The paths under test. */
  abstract GroupOptions options();

  /** What hosts one rank. */
  RankContext context(int rank) {
    return RankContext.process();
  }

  private <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(size, options(), this::context, body);
  }

  /** What rank {@code from} has for rank {@code to}: as many elements as their ranks together. */
  private static int[] part(int from, int to) {
    return IntStream.range(0, from + to).map(i -> 100 * from + 10 * to + i).toArray();
  }

  private static List<Tensor> empty(int from, int to, int size, boolean received) {
    List<Tensor> tensors = new ArrayList<>();
    for (int peer = 0; peer < size; peer++) {
      tensors.add(Tensor.of(new int[received ? peer + to : from + peer]));
    }
    return tensors;
  }

  @Test
  void gatherPutsTheInputsInRankOrderAtTheRoot() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            for (int root = 0; root < size; root++) {
              List<Tensor> outputs = group.rank() == root ? empty(0, root, size, true) : List.of();
              group.gather(outputs, Tensor.of(part(group.rank(), root)), root).await();
              for (int peer = 0; peer < outputs.size(); peer++) {
                assertThat((int[]) outputs.get(peer).array()).isEqualTo(part(peer, root));
              }
            }
            return null;
          });
    }
  }

  @Test
  void scatterGivesEachRankItsPart() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            int rank = group.rank();
            for (int root = 0; root < size; root++) {
              int[] output = new int[root + rank];
              List<Tensor> inputs = new ArrayList<>();
              for (int peer = 0; rank == root && peer < size; peer++) {
                inputs.add(Tensor.of(part(root, peer)));
              }
              group.scatter(Tensor.of(output), inputs, root).await();
              assertThat(output).isEqualTo(part(root, rank));
            }
            return null;
          });
    }
  }

  @Test
  void allToAllExchangesTensors() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            int rank = group.rank();
            List<Tensor> outputs = empty(0, rank, size, true);
            List<Tensor> inputs = new ArrayList<>();
            for (int peer = 0; peer < size; peer++) {
              inputs.add(Tensor.of(part(rank, peer)));
            }
            group.allToAll(outputs, inputs).await();
            for (int peer = 0; peer < size; peer++) {
              assertThat((int[]) outputs.get(peer).array()).isEqualTo(part(peer, rank));
            }
            return null;
          });
    }
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void allToAllExchangesEqualPartsOfEveryType(DType dtype) {
    ranks(
        3,
        group -> {
          Tensor input = Tensor.allocate(dtype, 6);
          Tensor output = Tensor.allocate(dtype, 6);
          if (dtype.bytes() == 1 && dtype != DType.BOOL) {
            byte[] bytes = {0, 1, 2, 3, 4, 5};
            for (int i = 0; i < 6; i++) {
              bytes[i] += (byte) (10 * group.rank());
            }
            input.copyFrom(bytes);
          }
          group.allToAll(output, input).await();
          if (dtype.bytes() == 1 && dtype != DType.BOOL) {
            byte[] expected = new byte[6];
            for (int i = 0; i < 6; i++) {
              expected[i] = (byte) (10 * (i / 2) + 2 * group.rank() + i % 2);
            }
            byte[] received = new byte[6];
            output.copyTo(received);
            assertThat(received).isEqualTo(expected);
          }
          return null;
        });
  }

  @Test
  void allToAllExchangesUnequalRowsOfOneTensor() {
    ranks(
        3,
        group -> {
          int rank = group.rank();
          // Rank r sends s rows of two elements to rank s.
          int[] in = IntStream.range(0, 6).map(i -> 100 * rank + i).toArray();
          int[] out = new int[2 * 3 * rank];
          group
              .allToAll(
                  Tensor.of(out).reshape(3L * rank, 2),
                  Tensor.of(in).reshape(3, 2),
                  new long[] {rank, rank, rank},
                  new long[] {0, 1, 2})
              .await();
          int first = rank == 2 ? 2 : 0;
          for (int peer = 0; peer < 3; peer++) {
            for (int i = 0; i < 2 * rank; i++) {
              assertThat(out[peer * 2 * rank + i]).isEqualTo(100 * peer + first + i);
            }
          }
          int[] equal = new int[3];
          group.allToAll(Tensor.of(equal), Tensor.of(rank, rank, rank), null, new long[0]).await();
          assertThat(equal).containsExactly(0, 1, 2);
          return null;
        });
  }

  @Test
  void coalescedTensorsAreReducedEach() {
    ranks(
        3,
        group -> {
          for (int scale : new int[] {1, 50_000}) {
            float[] a = new float[3 * scale];
            float[] b = new float[scale];
            float[] none = {};
            java.util.Arrays.fill(a, 1 + group.rank());
            java.util.Arrays.fill(b, 10);
            Work work =
                group.allReduceCoalesced(
                    List.of(Tensor.of(a), Tensor.of(none), Tensor.of(b)), ReduceOp.AVG);
            work.await();
            assertThat(work.opType()).isEqualTo(OpType.ALL_REDUCE_COALESCED);
            assertThat(a).containsOnly(2);
            assertThat(b).containsOnly(10);
          }
          return null;
        });
  }

  @Test
  void sparseTensorsAreSummedUpWhereverTheirPlacesAre() {
    ranks(
        3,
        group -> {
          int rank = group.rank();
          // Each stores row `rank` twice, and all store row 4.
          SparseTensor mine =
              SparseTensor.of(
                  new long[] {5, 2},
                  Tensor.of((long) rank, rank, 4L).reshape(1, 3),
                  Tensor.of(1f, 2f, 10f, 20f, rank, 1f).reshape(3, 2));
          Work work = group.allReduce(mine);
          work.await();
          SparseTensor sum = work.sparseResult();
          assertThat((long[]) sum.indices().array()).containsExactly(0, 1, 2, 4);
          assertThat((float[]) sum.values().array()).containsExactly(11, 22, 11, 22, 11, 22, 3, 3);
          assertThat(sum.shape()).containsExactly(5, 2);
          return null;
        });
  }

  @Test
  void sparseTensorsMayBeEmptyOnSomeRanksAndHaveSeveralSparseDimensions() {
    ranks(
        2,
        group -> {
          SparseTensor mine =
              group.rank() == 0
                  ? SparseTensor.of(
                      new long[] {1L << 40, 1L << 40},
                      Tensor.of(new long[0]).reshape(2, 0),
                      Tensor.of(new int[0]))
                  : SparseTensor.of(
                      new long[] {1L << 40, 1L << 40},
                      Tensor.of(7L, 7L, 1L, 9L, 3L, 9L).reshape(2, 3),
                      Tensor.of(1, 2, 3));
          Work work = group.allReduce(mine);
          work.await();
          assertThat((long[]) work.sparseResult().indices().array())
              .containsExactly(1, 7, 7, 9, 3, 9);
          assertThat((int[]) work.sparseResult().values().array()).containsExactly(3, 2, 1);
          return null;
        });
  }

  @Test
  void sparseTensorsOfDifferentShapesFailBothRanks() {
    ranks(
        2,
        group -> {
          SparseTensor mine =
              SparseTensor.of(
                  new long[] {4 + group.rank()}, Tensor.of(1L).reshape(1, 1), Tensor.of(1f));
          assertThatThrownBy(() -> group.allReduce(mine).await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageMatching("(?s).*(shape|all-reduce-sparse #0 of float32 \\[5\\]).*");
          return null;
        });
  }

  @Test
  void aMonitoredBarrierNamesAllRanksThatDoNotCome() {
    try (HashStore store = new HashStore()) {
      GroupRuns.run(
          store,
          4,
          options(),
          this::context,
          group -> {
            group.monitoredBarrier(Duration.ofSeconds(30), false);
            if (group.rank() == 0) {
              // A busy machine may keep rank 2 from its call for longer than the barrier waits.
              Eventually.holds(
                  () -> store.listKeys().stream().anyMatch(key -> key.endsWith("/1/rank-2")),
                  () -> "rank 2 does not come");
            }
            if (group.rank() == 0 || group.rank() == 2) {
              assertThatThrownBy(() -> group.monitoredBarrier(Duration.ofMillis(200), true))
                  .isInstanceOf(CollectiveTimeoutException.class)
                  .hasMessageContaining("rank 1 (")
                  .hasMessageContaining("rank 3 (")
                  .extracting(e -> ((CollectiveTimeoutException) e).missingRanks())
                  .isEqualTo(new int[] {1, 3});
            }
            // The group goes on.
            group.barrier().await();
            return null;
          });
    }
  }

  @Test
  void aMonitoredBarrierNamesTheFirstRankThatDoesNotCome() {
    ranks(
        3,
        group -> {
          if (group.rank() == 0) {
            assertThatThrownBy(() -> group.monitoredBarrier(Duration.ofMillis(200), false))
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("rank 1 (");
          }
          group.barrier().await();
          return null;
        });
  }

  @Test
  void aBatchOfMessagesHasNoOrder() {
    ranks(
        3,
        group -> {
          int next = (group.rank() + 1) % 3;
          int previous = (group.rank() + 2) % 3;
          int[] received = {0, 0};
          List<Work> works =
              group.batch(
                  List.of(
                      P2POp.recv(Tensor.of(received).slice(1, 1), previous, 1),
                      P2POp.send(Tensor.of(group.rank()), next, 0),
                      P2POp.send(Tensor.of(10 + group.rank()), next, 1),
                      P2POp.recv(Tensor.of(received).slice(0, 1), previous, 0)));
          works.forEach(Work::await);
          assertThat(received).containsExactly(previous, 10 + previous);
          assertThatThrownBy(() -> group.batch(List.of()))
              .isInstanceOf(IllegalArgumentException.class);
          assertThatThrownBy(() -> group.batch(List.of(P2POp.send(Tensor.of(1), group.rank(), 0))))
              .hasMessageContaining("this very rank");
          return null;
        });
  }

  @Test
  void aBlockOfOperationsIsAwaitedAsOne() {
    ranks(
        3,
        group -> {
          int[] sum = {1};
          int[] all = new int[3];
          Coalescing block = group.coalesce();
          assertThatThrownBy(group::coalesce).isInstanceOf(IllegalStateException.class);
          assertThatThrownBy(block::work).hasMessageContaining("not closed");
          try (block) {
            group.allReduce(Tensor.of(sum), ReduceOp.SUM);
            group.allGather(Tensor.of(all), Tensor.of(group.rank()));
          }
          Work work = block.work();
          assertThat(work.await(Duration.ofSeconds(30))).isTrue();
          assertThat(work.isSuccess()).isTrue();
          assertThat(work.opType()).isEqualTo(OpType.COALESCED);
          assertThat(sum[0]).isEqualTo(3);
          assertThat(all).containsExactly(0, 1, 2);
          CompletableFuture<List<Tensor>> tensors = work.future();
          assertThat(tensors.join()).hasSize(2);
          Coalescing empty = group.coalesce();
          try (empty) {
            assertThat(empty).isNotNull();
          }
          assertThatThrownBy(empty::work).hasMessageContaining("No operation");
          return null;
        });
  }

  @Test
  void differentReductionsAndRootsAreRefused() {
    ranks(
        2,
        group -> {
          ReduceOp op = group.rank() == 0 ? ReduceOp.SUM : ReduceOp.MAX;
          assertThatThrownBy(() -> group.allReduce(Tensor.of(1f, 2f), op).await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("SUM")
              .hasMessageContaining("MAX");
          return null;
        });
    ranks(
        3,
        group -> {
          int root = group.rank() == 1 ? 2 : 1;
          assertThatThrownBy(
                  () -> {
                    group.reduce(Tensor.of(1f, 2f), ReduceOp.SUM, root).await();
                    group.barrier().await();
                    // A rank whose own neighbours agreed with it passes the barrier.
                    group.barrier().await();
                  })
              .isInstanceOf(CollectiveException.class)
              .hasMessageMatching("(?s).*reduce #0 \\(float32 x 2, SUM, root [12]\\).*");
          return null;
        });
  }

  @Test
  void listsOfOtherSizesAreRefusedThoughTheirTotalsAreEqual() {
    ranks(
        2,
        group -> {
          boolean first = group.rank() == 0;
          List<Tensor> tensors =
              List.of(Tensor.of(new float[first ? 3 : 5]), Tensor.of(new float[first ? 5 : 3]));
          assertThatThrownBy(() -> group.allReduceCoalesced(tensors, ReduceOp.SUM).await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageMatching("(?s).*(sizes with digest|float32 \\[3\\] \\[5\\]).*");
          return null;
        });
  }

  @Test
  void memoryIsSharedInPlaceOrNotAtAll() {
    ranks(
        3,
        group -> {
          int[] data = {1, 2, 3, 4, 5, 6};
          Tensor all = Tensor.of(data);
          Tensor own = all.slice(2L * group.rank(), 2);
          Tensor other = all.slice(1, 2);
          String refused = "output and input share memory";
          refused(() -> group.allGather(all, other), refused);
          refused(() -> group.reduceScatter(other, all, ReduceOp.SUM), refused);
          List<Tensor> parts = List.of(all.slice(0, 2), all.slice(2, 2), all.slice(4, 2));
          refused(() -> group.allGather(parts, parts.get((group.rank() + 1) % 3)), refused);
          group.reduceScatter(own, all, ReduceOp.SUM).await();
          group.allGather(all, own).await();
          assertThat(data).containsExactly(3, 6, 9, 12, 15, 18);
          return null;
        });
  }

  @Test
  void argumentsAreRefusedAndTheGroupGoesOn() {
    ranks(
        2,
        group -> {
          Tensor one = Tensor.of(1);
          Tensor two = Tensor.of(1, 2);
          refused(() -> group.gather(List.of(), one, 5), "root must be 0 to 1, not 5");
          refused(() -> group.allReduce((SparseTensor) null), "the tensor is null");
          refused(() -> group.newSubgroups((List<int[]>) null), "the list of groups is null");
          refused(() -> group.batch(Arrays.asList((P2POp) null)), "operation is null");
          refused(
              () -> group.gather(List.of(one), one, group.rank()),
              "one tensor for each of 2 ranks, not 1");
          refused(
              () -> group.gather(List.of(one, one), one, 1 - group.rank()),
              "must be empty on ranks other than the root");
          refused(() -> group.scatter(one, List.of(one, one), 1 - group.rank()), "must be empty");
          refused(() -> group.allToAll(Tensor.of(1, 2, 3), Tensor.of(1, 2, 3)), "divide equally");
          refused(() -> group.allToAll(two, Tensor.of(1f, 2f)), "must be alike");
          refused(() -> group.allToAll(two, two), "share their memory");
          refused(
              () -> group.allToAll(Tensor.of(1, 2), two, null, new long[] {1}),
              "splits, 1, is not");
          refused(
              () -> group.allToAll(Tensor.of(1, 2), two, null, new long[] {1, 2}), "add up to 3");
          refused(
              () -> group.allToAll(Tensor.of(1, 2), two, new long[] {3, -1}, null), "negative: -1");
          refused(() -> group.allReduceCoalesced(List.of(), ReduceOp.SUM), "non-empty tensor list");
          refused(
              () -> group.allReduceCoalesced(List.of(one, Tensor.of(1f)), ReduceOp.SUM),
              "must be alike");
          refused(
              () -> group.allReduceCoalesced(List.of(one), ReduceOp.AVG), "not defined for int32");
          int[] sum = {1};
          Work work = group.allReduce(Tensor.of(sum), ReduceOp.SUM);
          work.await();
          assertThat(work.sequenceNumber()).isZero();
          assertThatThrownBy(work::sparseResult).isInstanceOf(IllegalStateException.class);
          assertThat(sum[0]).isEqualTo(2);
          return null;
        });
  }

  private static void refused(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String why) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why)
        .hasMessageContaining("on rank");
  }
}
