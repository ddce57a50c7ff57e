package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.join.Join;
import org.sparkcollectives.join.JoinOptions;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests each hook in the reducer, with few and many buckets and ranks that are late. */
@ExtendWith(LeakCheck.class)
class HooksOfReducerTest {

  private static final int PARAMETERS = 8;
  private static final long[] SHAPE = {16, 8};
  private static final int COUNT = 16 * 8;
  private static final int STEPS = 5;
  private static final PowerSgdOptions EARLY = PowerSgdOptions.defaults().withStart(2);

  /** Hooks, with how far their means are off. */
  private enum Hooks {
    ALL_REDUCE(0) {
      @Override
      CommHook create() {
        return CommHooks.allReduce();
      }
    },
    FLOAT16(0.01) {
      @Override
      CommHook create() {
        return CommHooks.float16();
      }
    },
    BFLOAT16(0.05) {
      @Override
      CommHook create() {
        return CommHooks.bfloat16();
      }
    },
    DIVIDE_FIRST(0.01) {
      @Override
      CommHook create() {
        return CommHooks.divideFirst(DType.FLOAT16);
      }
    },
    COMPRESSED(0.01) {
      @Override
      CommHook create() {
        return CommHooks.compressed(DType.FLOAT16, CommHooks.allReduce());
      }
    },
    PER_TENSOR(0.05) {
      @Override
      CommHook create() {
        return CommHooks.quantizedPerTensor();
      }
    },
    PER_CHANNEL(0.05) {
      @Override
      CommHook create() {
        return CommHooks.quantizedPerChannel(100);
      }
    },
    /** Whether it compresses depends on how fast it is. */
    BLOCKWISE_INT8(0.05) {
      @Override
      CommHook create() {
        return new BlockwiseInt8(BlockwiseInt8Options.defaults());
      }
    },
    ALWAYS_BLOCKWISE_INT8(0.05) {
      @Override
      CommHook create() {
        return new BlockwiseInt8(BlockwiseInt8Options.defaults().withAlways(true));
      }
    },
    COMPRESSED_BLOCKWISE_INT8(0.05) {
      @Override
      CommHook create() {
        BlockwiseInt8Options always = BlockwiseInt8Options.defaults().withAlways(true);
        return CommHooks.compressed(DType.BFLOAT16, new BlockwiseInt8(always));
      }
    },
    /** Of rank 8 nothing is left out. */
    POWER_SGD(1e-4) {
      @Override
      CommHook create() {
        return new PowerSgd(EARLY.withRank(8).withMinCompressionRate(0.1));
      }
    },
    COMPRESSED_POWER_SGD(0.2) {
      @Override
      CommHook create() {
        return CommHooks.compressed(
            DType.BFLOAT16,
            new PowerSgd(EARLY.withRank(8).withMinCompressionRate(0.1).withErrorFeedback(false)));
      }
    },
    BATCHED_POWER_SGD(1e-4) {
      @Override
      CommHook create() {
        return new PowerSgd(EARLY.withRank(40).withBatched(true));
      }
    },
    THEN_STEP(0) {
      @Override
      CommHook create() {
        return CommHooks.thenStep(CommHooks.allReduce(), (parameter, value, gradient) -> {});
      }
    };

    private final double tolerance;

    Hooks(double tolerance) {
      this.tolerance = tolerance;
    }

    abstract CommHook create();
  }

  private static float[] random(int rank, int step, int parameter) {
    Random random = new Random(1000L * step + 100L * rank + parameter);
    float[] values = new float[COUNT];
    for (int i = 0; i < COUNT; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  private static float[] mean(int ranks, int step, int parameter) {
    float[] mean = new float[COUNT];
    for (int rank = 0; rank < ranks; rank++) {
      float[] own = random(rank, step, parameter);
      for (int i = 0; i < COUNT; i++) {
        mean[i] += own[i] / ranks;
      }
    }
    return mean;
  }

  private static TestModel model() {
    long[][] shapes = new long[PARAMETERS][];
    Arrays.fill(shapes, SHAPE);
    return new TestModel(true, shapes);
  }

  /** Returns options for so many buckets from the second step on. */
  private static ReducerOptions options(int buckets) {
    long bytes = 4L * COUNT * PARAMETERS / buckets;
    return ReducerOptions.defaults().withFirstBucketBytes(bytes).withBucketBytes(bytes);
  }

  /** Lets other ranks go first, now and then. */
  private static void beLate(Random random) {
    int delay = random.nextInt(8) == 0 ? random.nextInt(1_000_000) : 0;
    long until = System.nanoTime() + delay;
    while (System.nanoTime() - until < 0) {
      Thread.onSpinWait();
    }
  }

  private static void step(GradientReducer reducer, int rank, int step, Random late) {
    reducer.beginForward();
    reducer.beginBackward();
    for (int parameter = PARAMETERS - 1; parameter >= 0; parameter--) {
      reducer.gradient(parameter).copyFrom(random(rank, step, parameter));
      beLate(late);
      reducer.markReady(parameter);
    }
    reducer.finish();
  }

  static Stream<Arguments> pathsAndBuckets() {
    return Stream.of(
        Arguments.of(Paths.HEAP, 1),
        Arguments.of(Paths.HEAP, 2),
        Arguments.of(Paths.DETAIL, 8),
        Arguments.of(Paths.SHM, 2),
        Arguments.of(Paths.TCP, 8),
        Arguments.of(Paths.MIXED, 8));
  }

  @ParameterizedTest
  @MethodSource("pathsAndBuckets")
  void eachHookAveragesAnyNumberOfBuckets(Paths paths, int buckets) {
    List<List<float[]>> all =
        GroupRuns.run(
            3,
            paths,
            group -> {
              List<float[]> results = new ArrayList<>();
              for (Hooks each : Hooks.values()) {
                results.addAll(train(group, each, buckets));
              }
              return results;
            });
    for (int i = 0; i < all.get(0).size(); i++) {
      assertThat(all.get(1).get(i)).isEqualTo(all.get(0).get(i));
      assertThat(all.get(2).get(i)).isEqualTo(all.get(0).get(i));
    }
  }

  private static List<float[]> train(ProcessGroup group, Hooks each, int buckets) {
    List<float[]> results = new ArrayList<>();
    Random late = new Random(group.rank());
    try (GradientReducer reducer =
        GradientReducer.create(group, model().parameters(), options(buckets))) {
      CommHook hook = each.create();
      reducer.setCommHook(
          bucket -> {
            beLate(late);
            return hook.run(bucket);
          });
      for (int step = 0; step < STEPS; step++) {
        step(reducer, group.rank(), step, new Random(step + group.rank()));
        assertThat(reducer.buckets()).hasSize(step == 0 ? 1 : buckets);
        for (int parameter = 0; parameter < PARAMETERS; parameter++) {
          float[] result = TestModel.values(reducer, parameter);
          float[] expected = mean(group.size(), step, parameter);
          String what = each + ", step " + step + ", parameter " + parameter;
          Numbers.assertClose(what, result, expected, (float) each.tolerance + 1e-6f);
          results.add(result);
        }
      }
    }
    return results;
  }

  @ParameterizedTest
  @MethodSource("pathsAndBuckets")
  void whatPowerSgdGivesAndKeepsAddsUpToTheMeans(Paths paths, int buckets) {
    int ranks = 2;
    List<float[][]> sums =
        GroupRuns.run(
            ranks,
            paths,
            group -> {
              float[][] sum = new float[PARAMETERS][COUNT];
              PowerSgd hook = new PowerSgd(EARLY);
              try (GradientReducer reducer =
                  GradientReducer.create(group, model().parameters(), options(buckets))) {
                reducer.setCommHook(hook);
                for (int step = 0; step < 12; step++) {
                  step(reducer, group.rank(), step, new Random(step - group.rank()));
                  for (int parameter = 0; parameter < PARAMETERS; parameter++) {
                    add(sum[parameter], TestModel.values(reducer, parameter));
                  }
                }
              }
              assertThat(hook.compressionRate()).isCloseTo(16 * 8 / 24.0, within(1e-9));
              Map<String, Tensor> state = hook.state();
              for (int parameter = 0; parameter < PARAMETERS; parameter++) {
                Tensor error = state.get("parameter " + parameter + "/error");
                assertThat(error.shape()).isEqualTo(SHAPE);
                add(sum[parameter], (float[]) error.array());
              }
              return sum;
            });
    for (int parameter = 0; parameter < PARAMETERS; parameter++) {
      float[] expected = new float[COUNT];
      for (int step = 0; step < 12; step++) {
        add(expected, mean(ranks, step, parameter));
      }
      float[] given = new float[COUNT];
      for (int i = 0; i < COUNT; i++) {
        given[i] = (sums.get(0)[parameter][i] + sums.get(1)[parameter][i]) / 2;
      }
      Numbers.assertClose("parameter " + parameter, given, expected, 1e-4f);
    }
  }

  private static void add(float[] sum, float[] values) {
    for (int i = 0; i < sum.length; i++) {
      sum[i] += values[i];
    }
  }

  /** The mean of [1], [2] is 1.5; afterwards rank 1 alone has 4 and 6. */
  @Test
  void inAJoinHooksDivideByTheRanksThatStillHaveRows() {
    for (Hooks each : Hooks.values()) {
      for (boolean initial : new boolean[] {false, true}) {
        List<List<Float>> results =
            GroupRuns.run(2, Paths.HEAP, group -> joined(group, each.create(), initial));
        double half = initial ? 2 : 1;
        assertThat(results.get(1)).as("%s", each).hasSize(3);
        assertThat((double) results.get(1).get(0)).as("%s", each).isCloseTo(1.5, within(0.05));
        assertThat((double) results.get(1).get(1)).as("%s", each).isCloseTo(4 / half, within(0.05));
        assertThat((double) results.get(1).get(2)).as("%s", each).isCloseTo(6 / half, within(0.1));
      }
    }
  }

  private static List<Float> joined(ProcessGroup group, CommHook hook, boolean initial)
      throws Exception {
    TestModel model = new TestModel(true, new long[] {16, 8});
    List<Float> seen = new ArrayList<>();
    try (GradientReducer reducer =
        GradientReducer.create(group, model.parameters(), ReducerOptions.defaults())) {
      reducer.setCommHook(hook);
      JoinOptions options = new JoinOptions().withDivideByInitialSize(initial);
      return Join.run(
          options,
          List.of(reducer),
          () -> {
            for (int step = 0; step < (group.rank() == 0 ? 1 : 3); step++) {
              model.zero(reducer);
              model.step(reducer, (group.rank() + 1) * (step + 1));
              seen.add(TestModel.values(reducer, 0)[5]);
            }
            return seen;
          });
    }
  }

  @Test
  void gradientsOfAllFloatingPointTypesAreAveragedWhereTheyLieInTheirBuckets() {
    List<DType> types = List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16);
    List<Parameter> parameters =
        types.stream().map(each -> Parameter.of("p", Tensor.allocate(each, SHAPE))).toList();
    GroupRuns.run(
        2,
        Paths.SHM,
        group -> {
          float[] own = new float[COUNT];
          Arrays.fill(own, 1 + group.rank());
          float[] mean = new float[COUNT];
          for (Hooks each : Hooks.values()) {
            try (GradientReducer reducer =
                GradientReducer.create(group, parameters, ReducerOptions.defaults())) {
              reducer.setCommHook(each.create());
              for (int step = 0; step < 4; step++) {
                for (int i = 0; i < types.size(); i++) {
                  HostTensor gradient = HostTensor.of(reducer.gradient(i));
                  FloatElements.write(own, 0, gradient, 0, COUNT);
                }
                reducer.reduce();
                for (int i = 0; i < types.size(); i++) {
                  HostTensor gradient = HostTensor.of(reducer.gradient(i));
                  FloatElements.read(gradient, 0, COUNT, mean, 0);
                  assertThat((double) mean[100])
                      .as("%s of %s", each, types.get(i))
                      .isCloseTo(1.5, within(0.02));
                }
              }
            }
          }
          return null;
        });
  }

  @Test
  void hooksMakeTheMeanOverTheRowsOfAllRanks() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          for (Hooks each : Hooks.values()) {
            TestModel model = new TestModel(true, SHAPE, SHAPE);
            try (GradientReducer reducer =
                GradientReducer.create(
                    group,
                    model.parameters(),
                    ReducerOptions.defaults().withWeightedMean(true).withBucketBytes(1))) {
              reducer.setCommHook(each.create());
              for (int step = 0; step < 4; step++) {
                int rows = group.rank() == 0 ? 1 + step : 3;
                reducer.setWeight(rows);
                model.zero(reducer);
                model.step(reducer, 1 + group.rank());
                assertThat((double) TestModel.values(reducer, 1)[77])
                    .as("%s in step %d", each, step)
                    .isCloseTo((1 + step + 3 * 2) / (4.0 + step), within(0.02));
              }
            }
          }
          return null;
        });
  }

  @Test
  void gradientsOfManyBucketsAreAveragedInSubgroupsAfterSomeSteps() {
    GroupRuns.run(
        4,
        Paths.HEAP,
        group -> {
          TestModel model = model();
          try (ProcessGroup pair = group.newSubgroups(2);
              GradientReducer reducer =
                  GradientReducer.create(group, model.parameters(), options(8))) {
            reducer.setCommHook(new PostLocalSgd(pair, 2, true));
            for (int step = 0; step < 4; step++) {
              model.zero(reducer);
              model.step(reducer, group.rank());
              model.assertGradients(reducer, step < 2 ? 1.5f : group.rank() < 2 ? 0.5f : 2.5f);
            }
          }
          return null;
        });
  }

  @Test
  void powerSgdGoesOnInTheGroupThatAFailureLeaves() {
    List<List<float[]>> results =
        GroupRuns.run(
            3,
            Paths.HEAP,
            group -> {
              List<float[]> seen = new ArrayList<>();
              PowerSgd hook = new PowerSgd(EARLY);
              try (GradientReducer reducer =
                  GradientReducer.create(group, model().parameters(), options(8))) {
                reducer.setCommHook(
                    bucket -> {
                      if (group.rank() == 2 && bucket.step() == 3 && bucket.index() == 5) {
                        throw new IllegalStateException("rank 2 is lost");
                      }
                      return hook.run(bucket);
                    });
                Throwable thrown =
                    catchThrowable(
                        () -> {
                          for (int step = 0; step < 4; step++) {
                            step(reducer, group.rank(), step, new Random(group.rank()));
                          }
                        });
                assertThat(thrown).hasStackTraceContaining("rank 2 is lost");
                if (group.rank() == 2) {
                  return seen;
                }
                try (ProcessGroup left = group.shrink(2)) {
                  reducer.setProcessGroup(left);
                  for (int step = 4; step < 8; step++) {
                    step(reducer, group.rank(), step, new Random(group.rank()));
                    for (int parameter = 0; parameter < PARAMETERS; parameter++) {
                      seen.add(TestModel.values(reducer, parameter));
                    }
                  }
                }
              }
              return seen;
            });
    assertThat(results.get(0)).hasSize(4 * PARAMETERS);
    for (int i = 0; i < results.get(0).size(); i++) {
      assertThat(results.get(1).get(i)).isEqualTo(results.get(0).get(i));
      assertThat(results.get(1).get(i)).doesNotContain(Float.NaN);
    }
  }

  @Test
  void aStepThatThrowsOnOneRankEndsTheGroupOnAll() {
    List<Throwable> thrown =
        GroupRuns.run(
            3,
            Paths.HEAP,
            group -> {
              try (GradientReducer reducer =
                  GradientReducer.create(
                      group.withTimeout(Duration.ofSeconds(20)),
                      model().parameters(),
                      options(8))) {
                reducer.setCommHook(
                    CommHooks.thenStep(
                        new PowerSgd(EARLY),
                        parameter -> parameter == 3,
                        (parameter, value, gradient) -> {
                          if (group.rank() == 1 && gradient.count() == COUNT) {
                            throw new IllegalStateException("no memory for momentum");
                          }
                        }));
                return catchThrowable(
                    () -> {
                      for (int step = 0; step < 4; step++) {
                        step(reducer, group.rank(), step, new Random(0));
                      }
                    });
              }
            });
    assertThat(thrown)
        .allSatisfy(
            each ->
                assertThat(each)
                    .isInstanceOf(CollectiveException.class)
                    .hasStackTraceContaining("no memory for momentum"));
  }

  @Test
  void weightedGradientsKeepTheirSizeForHooksInHalves() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          TestModel model = TestModel.of(4, 2);
          try (GradientReducer reducer =
              GradientReducer.create(
                  group, model.parameters(), ReducerOptions.defaults().withWeightedMean(true))) {
            reducer.setCommHook(CommHooks.float16());
            // 600 rows times 300 is more than float16 has; the mean is not.
            reducer.setWeight(group.rank() == 0 ? 600 : 200);
            model.step(reducer, 300);
            model.assertGradients(reducer, 300);
          }
          return null;
        });
  }
}
