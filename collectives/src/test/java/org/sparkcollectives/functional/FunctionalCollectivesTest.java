package org.sparkcollectives.functional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests collectives that give new tensors, against what each element of the result must be. */
@ExtendWith({LeakCheck.class, InvocationName.class})
@ParameterizedClass(name = "{0}")
@EnumSource(
    value = Paths.class,
    names = {"HEAP", "DETAIL", "TCP", "MIXED"})
class FunctionalCollectivesTest {

  private static final int RANKS = 3;
  private static final int CASES = 15;

  @Parameter private Paths paths;

  private <T> List<T> ranks(GroupRuns.Body<T> body) {
    return GroupRuns.run(RANKS, paths, body);
  }

  /** The element that a rank has at an index: different everywhere. */
  private static long element(int rank, long index) {
    return 1_000_000L * rank + index;
  }

  private static Tensor input(int rank, long... shape) {
    int count = (int) Arrays.stream(shape).reduce(1, (a, b) -> a * b);
    long[] values = new long[count];
    Arrays.setAll(values, i -> element(rank, i));
    return Tensor.of(values).reshape(shape);
  }

  private static long[] values(Tensor tensor) {
    long[] values = new long[(int) tensor.count()];
    tensor.copyTo(values);
    return values;
  }

  /** Returns the coordinate of the element at a position. */
  private static long[] coordinate(long position, long[] shape) {
    long[] coordinate = new long[shape.length];
    for (int i = shape.length - 1; i >= 0; i--) {
      coordinate[i] = position % shape[i];
      position /= shape[i];
    }
    return coordinate;
  }

  private static long position(long[] coordinate, long[] shape) {
    long position = 0;
    for (int i = 0; i < shape.length; i++) {
      position = position * shape[i] + coordinate[i];
    }
    return position;
  }

  private static long[] randomShape(Random random) {
    return random.longs(1 + random.nextInt(4), 0, 5).toArray();
  }

  private interface Case {
    void run(Random random, String what);
  }

  private static void cases(Case each) {
    for (int seed = 0; seed < CASES; seed++) {
      each.run(new Random(seed), "seed " + seed);
    }
  }

  @Test
  void aGatherPutsTensorsTogetherAlongAnyDimension() {
    ranks(
        group -> {
          cases(
              (random, what) -> {
                long[] shape = randomShape(random);
                int dimension = random.nextInt(shape.length);
                int given = random.nextBoolean() ? dimension : dimension - shape.length;
                Tensor result =
                    FunctionalCollectives.allGather(group, input(group.rank(), shape), given)
                        .join();
                long[] whole = shape.clone();
                whole[dimension] *= RANKS;
                assertThat(result.shape()).as(what).isEqualTo(whole);
                long[] values = values(result);
                for (int i = 0; i < values.length; i++) {
                  long[] at = coordinate(i, whole);
                  int rank = (int) (at[dimension] / shape[dimension]);
                  at[dimension] %= shape[dimension];
                  assertThat(values[i]).as(what).isEqualTo(element(rank, position(at, shape)));
                }
              });
          return null;
        });
  }

  @Test
  void aReductionIsCutAlongAnyDimension() {
    ranks(
        group -> {
          cases(
              (random, what) -> {
                long[] shape = randomShape(random);
                int dimension = random.nextInt(shape.length);
                long extent = shape[dimension];
                long[] whole = shape.clone();
                whole[dimension] *= RANKS;
                Tensor result =
                    FunctionalCollectives.reduceScatter(
                            group, input(group.rank(), whole), ReduceOp.SUM, dimension)
                        .join();
                assertThat(result.shape()).as(what).isEqualTo(shape);
                long[] values = values(result);
                for (int i = 0; i < values.length; i++) {
                  long[] at = coordinate(i, shape);
                  at[dimension] += group.rank() * extent;
                  assertThat(values[i]).as(what).isEqualTo(3_000_000L + 3 * position(at, whole));
                }
              });
          return null;
        });
  }

  @Test
  void theDimensionAlongWhichATensorIsSpreadIsExchanged() {
    ranks(
        group -> {
          cases(
              (random, what) -> {
                long[] shape = randomShape(random);
                int gathered = random.nextInt(shape.length);
                int cut = random.nextInt(shape.length);
                if (gathered == cut) {
                  return;
                }
                shape[cut] *= RANKS;
                Tensor result =
                    FunctionalCollectives.exchangeDimensions(
                            group, input(group.rank(), shape), gathered, cut)
                        .join();
                long[] out = shape.clone();
                out[gathered] *= RANKS;
                out[cut] /= RANKS;
                assertThat(result.shape()).as(what).isEqualTo(out);
                long[] values = values(result);
                for (int i = 0; i < values.length; i++) {
                  long[] at = coordinate(i, out);
                  int rank = (int) (at[gathered] / shape[gathered]);
                  at[gathered] %= shape[gathered];
                  at[cut] += group.rank() * out[cut];
                  assertThat(values[i]).as(what).isEqualTo(element(rank, position(at, shape)));
                }
              });
          return null;
        });
  }

  @Test
  void theInputStaysAndMayChangeWhileTheOperationRuns() {
    ranks(
        group -> {
          for (ReduceOp op : List.of(ReduceOp.SUM, FunctionalCollectives.reduction("Sum"))) {
            float[] values = {group.rank(), 2};
            var sum = FunctionalCollectives.allReduce(group, Tensor.of(values), op);
            Arrays.fill(values, 100);
            float[] found = new float[2];
            sum.join().copyTo(found);
            assertThat(found).containsExactly(3, 6);
            assertThat(values).containsOnly(100);
          }
          return null;
        });
  }

  @Test
  void severalTensorsAreReducedAndGatheredTogether() {
    ranks(
        group -> {
          List<Tensor> inputs = List.of(input(group.rank(), 2, 2), input(group.rank(), 5));
          List<Tensor> sums = FunctionalCollectives.allReduce(group, inputs, ReduceOp.MAX).join();
          assertThat(sums.get(0).shape()).containsExactly(2, 2);
          assertThat(values(sums.get(1))[4]).isEqualTo(element(2, 4));
          List<Tensor> all = FunctionalCollectives.allGather(group, inputs, -1).join();
          assertThat(all.get(0).shape()).containsExactly(2, 6);
          assertThat(values(all.get(0)))
              .startsWith(element(0, 0), element(0, 1), element(1, 0), element(1, 1));
          List<Tensor> parts =
              FunctionalCollectives.reduceScatter(
                      group, List.of(input(0, 3), input(0, 6)), ReduceOp.SUM, 0)
                  .join();
          assertThat(values(parts.get(1)))
              .containsExactly(6L * group.rank(), 6L * group.rank() + 3);
          return null;
        });
  }

  @Test
  void aBroadcastAPermutationAndExchangesGiveNewTensors() {
    ranks(
        group -> {
          int rank = group.rank();
          Tensor own = input(rank, 2);
          assertThat(values(FunctionalCollectives.broadcast(group, own, 2).join()))
              .containsExactly(element(2, 0), element(2, 1));
          Tensor shifted = FunctionalCollectives.permute(group, own, 1, 2, 0).join();
          assertThat(values(shifted)).containsExactly(values(input((rank + 2) % 3, 2)));
          Tensor equal = FunctionalCollectives.allToAll(group, input(rank, 3, 2)).join();
          assertThat(equal.shape()).containsExactly(3, 2);
          assertThat(values(equal)[4]).isEqualTo(element(2, 2L * rank));
          // Rank r sends s rows to rank s.
          long[] from = {rank, rank, rank};
          Tensor uneven =
              FunctionalCollectives.allToAll(group, input(rank, 3, 2), from, new long[] {0, 1, 2})
                  .join();
          assertThat(uneven.shape()).containsExactly(3L * rank, 2);
          if (rank == 2) {
            assertThat(values(uneven)).startsWith(element(0, 2)).endsWith(element(2, 5));
          }
          assertThat(values(own)).containsExactly(element(rank, 0), element(rank, 1));
          return null;
        });
  }

  @Test
  void aScalarCountsAsOneElement() {
    ranks(
        group -> {
          Tensor scalar = Tensor.of((long) group.rank()).reshape();
          Tensor all = FunctionalCollectives.allGather(group, scalar, 0).join();
          assertThat(values(all)).containsExactly(0, 1, 2);
          Tensor sum = FunctionalCollectives.allReduce(group, scalar, ReduceOp.SUM).join();
          assertThat(sum.shape()).isEmpty();
          assertThat(values(sum)).containsExactly(3);
          return null;
        });
  }

  private static void refused(Supplier<?> call, String message) {
    assertThatThrownBy(call::get)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("of group \"group")
        .hasMessageContaining(" of 3: ")
        .hasMessageContaining(message);
  }

  @Test
  void wrongArgumentsAreRefusedAndTheGroupGoesOn() {
    ranks(
        group -> {
          Tensor table = input(0, 3, 4);
          refused(
              () -> FunctionalCollectives.allGather(group, table, 2),
              "there is no dimension 2 in the shape [3, 4]; give one from -2 to 1");
          refused(() -> FunctionalCollectives.allGather(group, table, -3), "no dimension -3");
          refused(
              () -> FunctionalCollectives.reduceScatter(group, table, ReduceOp.SUM, 1),
              "dimension 1 of the shape [3, 4] has the extent 4, which must be a multiple of");
          refused(
              () -> FunctionalCollectives.reduceScatter(group, table, ReduceOp.AVG, 0),
              "AVG is not defined for");
          refused(
              () -> FunctionalCollectives.allReduce(group, table, ReduceOp.AVG),
              "AVG is not defined for");
          refused(
              () -> FunctionalCollectives.allToAll(group, table, new long[] {1, 1, 1}, null),
              "give both splits or neither, not [1, 1, 1] for the output and null");
          refused(
              () ->
                  FunctionalCollectives.allToAll(
                      group, table, new long[] {1, -1, 1}, new long[] {1, 1, 1}),
              "negative");
          refused(
              () -> FunctionalCollectives.permute(group, table, 0, 0, 1),
              "the destinations [0, 0, 1] must name each of the ranks 0 to 2 once");
          refused(
              () -> FunctionalCollectives.exchangeDimensions(group, table, 0, 1),
              "must be a multiple of the group's 3 ranks");
          assertThatThrownBy(() -> FunctionalCollectives.reduction("foo"))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("Unrecognized reduce_op: foo");
          assertThat(values(FunctionalCollectives.allGather(group, table, 0).join())).hasSize(36);
          return null;
        });
  }

  @Test
  void allNamesOfReductionsAreKnownInAnyCase() {
    for (ReduceOp.Kind kind : ReduceOp.Kind.values()) {
      if (kind != ReduceOp.Kind.PREMUL_SUM) {
        assertThat(FunctionalCollectives.reduction(kind.name()).kind()).isEqualTo(kind);
      }
    }
    assertThat(FunctionalCollectives.reduction("aVg")).isEqualTo(ReduceOp.AVG);
  }

  @Test
  void theFutureFailsWithTheGroup() {
    ranks(
        group -> {
          if (group.rank() == 1) {
            group.abort(new IllegalStateException("enough"));
            return null;
          }
          Tensor bytes = Tensor.allocate(DType.INT8, 3);
          assertThatThrownBy(() -> FunctionalCollectives.allGather(group, bytes, 0).join())
              .satisfiesAnyOf(
                  e ->
                      assertThat(e)
                          .isInstanceOf(CompletionException.class)
                          .hasCauseInstanceOf(CollectiveException.class),
                  // The group may have ended before the operation begins.
                  e -> assertThat(e).isInstanceOf(CollectiveException.class));
          return null;
        });
  }
}
