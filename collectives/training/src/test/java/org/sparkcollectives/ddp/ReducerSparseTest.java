package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests parameters with sparse gradients, such as those of an embedding. */
@ExtendWith(LeakCheck.class)
class ReducerSparseTest {

  private static final long[] SHAPE = {10, 2};

  private final Tensor dense = Tensor.allocate(DType.FLOAT32, 3);

  private List<Parameter> parameters(boolean sparseLast) {
    Parameter embedding =
        new Parameter("embedding", Tensor.allocate(DType.FLOAT32, SHAPE), null, true);
    Parameter weight = Parameter.of("weight", dense);
    // Buckets are in the reverse order.
    return sparseLast ? List.of(embedding, weight) : List.of(weight, embedding);
  }

  private static SparseTensor row(long index, float value) {
    return SparseTensor.of(
        SHAPE, Tensor.of(index).reshape(1, 1), Tensor.of(value, 2 * value).reshape(1, 2));
  }

  private static void assertRows(SparseTensor mean, long[] indices, float... values) {
    assertThat((long[]) mean.indices().array()).isEqualTo(indices);
    assertThat((float[]) mean.values().array()).isEqualTo(values);
    assertThat(mean.shape()).isEqualTo(SHAPE);
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "DETAIL", "TCP"})
  void rowsAreAveragedByTheirIndices(Paths paths) {
    GroupRuns.run(
        2,
        paths,
        group -> {
          for (boolean last : new boolean[] {false, true}) {
            average(group, last);
          }
          return null;
        });
  }

  private void average(ProcessGroup group, boolean last) {
    int sparse = last ? 0 : 1;
    try (GradientReducer reducer =
        GradientReducer.create(
            group, parameters(last), ReducerOptions.defaults().withBucketBytes(4))) {
      assertThat(reducer.sparseGradient(sparse)).isNull();
      for (int step = 0; step < 3; step++) {
        reducer.beginForward();
        reducer.beginBackward();
        TestModel.fill(reducer, 1 - sparse, group.rank());
        reducer.markReady(1 - sparse);
        reducer.markReady(sparse, row(3 + group.rank(), 4));
        reducer.finish();
        TestModel.assertGradient(reducer, 1 - sparse, 0.5f);
        assertRows(reducer.sparseGradient(sparse), new long[] {3, 4}, 2, 4, 2, 4);
      }
      assertThat(reducer.buckets()).hasSize(2);
    }
  }

  @Test
  void rowsOfPausedStepsAddUp() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          try (GradientReducer reducer =
              GradientReducer.create(group, parameters(true), ReducerOptions.defaults())) {
            NoSync pause = reducer.noSync();
            mark(reducer, row(5, 1));
            reducer.finish();
            pause.close();
            mark(reducer, row(5, 2));
            reducer.finish();
            assertRows(reducer.sparseGradient(0), new long[] {5}, 3, 6);
            mark(reducer, row(1, 1));
            reducer.finish();
            assertRows(reducer.sparseGradient(0), new long[] {1}, 1, 2);
          }
          return null;
        });
  }

  private static void mark(GradientReducer reducer, SparseTensor gradient) {
    reducer.beginBackward();
    reducer.markReady(1);
    reducer.markReady(0, gradient);
  }

  @Test
  void anEmbeddingThatOneRankDoesNotUseIsAveragedAndOneThatNobodyUsesIsNot() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          try (GradientReducer reducer =
              GradientReducer.create(
                  group, parameters(true), ReducerOptions.defaults().withFindUnused(true))) {
            reducer.beginBackward();
            if (group.rank() == 1) {
              reducer.markReady(0, row(2, 4));
            }
            reducer.finish();
            assertRows(reducer.sparseGradient(0), new long[] {2}, 2, 4);
            reducer.beginBackward();
            reducer.finish();
            assertThat(reducer.sparseGradient(0)).isNull();
          }
          return null;
        });
  }

  @Test
  void theWeightedMeanIsOverRowsOfInputToo() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          try (GradientReducer reducer =
              GradientReducer.create(
                  group, parameters(true), ReducerOptions.defaults().withWeightedMean(true))) {
            reducer.setWeight(group.rank() == 0 ? 3 : 1);
            mark(reducer, row(2, group.rank() == 0 ? 4 : 8));
            reducer.finish();
            assertRows(reducer.sparseGradient(0), new long[] {2}, 5, 10);
          }
          return null;
        });
  }

  @Test
  void halvesWhoseSumWouldOverflowHaveTheirMean() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          Parameter half = new Parameter("half", Tensor.allocate(DType.FLOAT16, 4), null, true);
          short large = Float16.fromFloat(40_000);
          for (boolean weighted : new boolean[] {false, true}) {
            try (GradientReducer reducer =
                GradientReducer.create(
                    group, List.of(half), ReducerOptions.defaults().withWeightedMean(weighted))) {
              if (weighted) {
                reducer.setWeight(100);
              }
              reducer.beginBackward();
              reducer.markReady(
                  0,
                  SparseTensor.of(
                      new long[] {4},
                      Tensor.of(1L).reshape(1, 1),
                      Tensor.wrap(DType.FLOAT16, new short[] {large})));
              reducer.finish();
              Tensor mean = reducer.sparseGradient(0).values();
              assertThat(mean.dtype()).isEqualTo(DType.FLOAT16);
              assertThat((short[]) mean.array()).containsExactly(large);
            }
          }
          return null;
        });
  }

  @Test
  void whatDoesNotFitIsRefusedAndAMissingMarkFailsTheStep() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          try (GradientReducer reducer =
              GradientReducer.create(group, parameters(true), ReducerOptions.defaults())) {
            reducer.beginBackward();
            reducer.markReady(1);
            SparseTensor small =
                SparseTensor.of(
                    new long[] {9, 2},
                    Tensor.of(0L).reshape(1, 1),
                    Tensor.of(1f, 1f).reshape(1, 2));
            assertThatThrownBy(() -> reducer.markReady(0, small))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[9, 2]")
                .hasMessageContaining("float32[10, 2]")
                .hasMessageContaining("rank " + group.rank());
            assertThatThrownBy(() -> reducer.markReady(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("parameter 0 (\"embedding\"), which has sparse ones");
            assertThatThrownBy(() -> reducer.gradient(0))
                .isInstanceOf(IllegalArgumentException.class);
            if (group.rank() == 0) {
              reducer.markReady(0, row(1, 1));
            }
            assertThatThrownBy(reducer::finish)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("rank 1 did not mark parameter 0 (\"embedding\")");
            mark(reducer, row(2, 4));
            reducer.finish();
            assertRows(reducer.sparseGradient(0), new long[] {2}, 4, 8);
          }
          return null;
        });
  }

  @Test
  void sparseGradientsDoNotGoThroughAHook() {
    GroupRuns.run(
        2,
        Paths.TCP,
        group -> {
          try (GradientReducer reducer =
              GradientReducer.create(group, parameters(true), ReducerOptions.defaults())) {
            reducer.setCommHook(
                bucket -> {
                  assertThat(bucket.parameters()).containsExactly(1);
                  return CompletableFuture.completedFuture(bucket.buffer());
                });
            mark(reducer, row(group.rank(), 4));
            reducer.finish();
            assertRows(reducer.sparseGradient(0), new long[] {0, 1}, 2, 4, 2, 4);
          }
          return null;
        });
  }
}
