package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Specifies all-reduce, reduce and reduce-scatter, with sums that are easily checked. */
interface ReductionsContract extends RanksUnderTest {

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 7})
  default void allReduceGivesEveryRankTheReduction(int size) {
    ranks(
        size,
        group -> {
          for (Samples.Reduction each : Samples.reductions()) {
            for (int count : Samples.COUNTS) {
              Tensor tensor = Samples.contribution(each.dtype(), group.rank(), count);
              group.allReduce(tensor, each.op()).await();
              Samples.assertClose(each, tensor, Samples.model(each.op(), size, count));
            }
          }
          return null;
        });
  }

  @Test
  default void allReduceGivesEveryRankTheSameBitsEachTime() {
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

  /**
   * Checks that the owner of a part adds up half-precision numbers, which do not go around the
   * ring.
   */
  @ParameterizedTest
  @EnumSource(names = {"FLOAT16", "BFLOAT16"})
  default void halvesAreReducedInFloat32AndRoundedOnce(DType dtype) {
    int size = 4;
    short one = halves(dtype, 1f, 1)[0];
    // One of these is too small to change 1, but three together are not.
    float small = dtype == DType.FLOAT16 ? 0x1p-11f : 0x1p-8f;
    ranks(
        size,
        group -> {
          for (int count : Samples.COUNTS) {
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
  default void reduceChangesTheRootOnly() {
    for (int size : new int[] {1, 2, 3, 5, 8}) {
      ranks(
          size,
          group -> {
            for (int root = 0; root < size; root++) {
              for (int count : Samples.COUNTS) {
                Tensor tensor = Samples.contribution(DType.FLOAT64, group.rank(), count);
                double[] before = Samples.values(tensor).clone();
                group.reduce(tensor, ReduceOp.SUM, root).await();
                boolean atRoot = group.rank() == root;
                assertThat(Samples.values(tensor))
                    .isEqualTo(atRoot ? Samples.model(ReduceOp.SUM, size, count) : before);
              }
            }
            return null;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  default void reduceScatterLeavesEachRankItsPartAndTheInputAlone(int size) {
    ranks(
        size,
        group -> {
          for (Samples.Reduction each : Samples.reductions()) {
            for (int part : new int[] {0, 1, 5, 20_001}) {
              Tensor input = Samples.contribution(each.dtype(), group.rank(), part * size);
              double[] before = Samples.values(input).clone();
              Tensor output = Tensor.allocate(each.dtype(), part);
              group.reduceScatter(output, input, each.op()).await();
              double[] all = Samples.model(each.op(), size, part * size);
              int from = group.rank() * part;
              Samples.assertClose(each, output, Arrays.copyOfRange(all, from, from + part));
              assertThat(Samples.values(input)).as("input of %s", each).isEqualTo(before);
            }
          }
          return null;
        });
  }

  @Test
  default void reduceScatterTakesPartsOfDifferentCounts() {
    int size = 3;
    ranks(
        size,
        group -> {
          List<Tensor> inputs = new ArrayList<>();
          for (int rank = 0; rank < size; rank++) {
            inputs.add(Samples.contribution(DType.FLOAT64, group.rank(), 7 + rank * 5000));
          }
          int count = 7 + group.rank() * 5000;
          Tensor output = Tensor.allocate(DType.FLOAT64, count);
          group.reduceScatter(output, inputs, ReduceOp.SUM).await();
          assertThat(Samples.values(output)).isEqualTo(Samples.model(ReduceOp.SUM, size, count));
          return null;
        });
  }
}
