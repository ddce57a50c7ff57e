package org.sparkcollectives.zero;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.CommHook;
import org.sparkcollectives.ddp.CommHooks;
import org.sparkcollectives.ddp.GradientBucket;
import org.sparkcollectives.ddp.GradientReducer;
import org.sparkcollectives.ddp.NoSync;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.ddp.ReducerOptions;
import org.sparkcollectives.join.Join;
import org.sparkcollectives.join.JoinOptions;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/**
 * Tests a reducer and a sharded optimizer together on uneven inputs, against a model of one thread
 * that has the gradients of all ranks.
 */
@ExtendWith(LeakCheck.class)
class JoinedTrainingTest {

  private static final AdamOptions ADAM = new AdamOptions().withLearningRate(0.1);

  /**
   * A training on uneven inputs.
   *
   * @param lengths how many steps each rank has
   * @param pauses how many backward passes without synchronisation come before each step
   * @param initial whether sums are divided by the number of all ranks
   * @param unused whether ranks leave out parameters
   * @param views whether gradients lie in their buckets
   * @param hook whether a hook reduces the buckets
   * @param stepsInHook whether a hook makes the optimizer's steps
   */
  private record Script(
      int[] lengths,
      int pauses,
      boolean initial,
      boolean unused,
      boolean views,
      boolean hook,
      boolean stepsInHook) {

    static Script random(Random random) {
      int ranks = 2 + random.nextInt(3);
      return new Script(
          random.ints(ranks, 0, 8).toArray(),
          random.nextInt(2),
          random.nextBoolean(),
          random.nextBoolean(),
          random.nextBoolean(),
          random.nextBoolean(),
          random.nextBoolean());
    }

    int[] active(int step) {
      return IntStream.range(0, lengths.length).filter(rank -> lengths[rank] > step).toArray();
    }

    /** Returns whether a rank uses a parameter in a step; some are used by no rank. */
    boolean uses(int parameter, int step, int rank) {
      return !unused
          || (new SplittableRandom(31L * step + parameter).nextInt(4) > 0
              && new SplittableRandom(131L * step + 17L * rank + parameter).nextBoolean());
    }

    /** Returns a parameter with its gradient in its bucket, or in memory of its own. */
    Parameter parameter(String name, Tensor value) {
      return new Parameter(name, value, views ? null : StateParts.zeros(value), false);
    }

    ReducerOptions options() {
      return ReducerOptions.defaults()
          .withBucketBytes(64)
          .withFindUnused(unused)
          .withGradientAsBucketView(views);
    }

    @Override
    public String toString() {
      return Arrays.toString(lengths)
          + ", pauses "
          + pauses
          + (initial ? ", by all ranks" : ", by active ranks")
          + (unused ? ", unused" : "")
          + (views ? ", views" : "")
          + (hook ? ", hook" : "")
          + (stepsInHook ? ", steps in the hook" : "");
    }
  }

  private static List<String> expected(Script script) {
    SharedModel model = new SharedModel();
    AdamOptimizer adam = new AdamOptimizer(ADAM);
    int most = Arrays.stream(script.lengths).max().orElseThrow();
    for (int step = 0; step < most; step++) {
      int now = step;
      int[] active = script.active(step);
      int divisor = script.initial ? script.lengths.length : active.length;
      for (int i = 0; i < model.parameters().size(); i++) {
        int parameter = i;
        int[] users =
            Arrays.stream(active).filter(rank -> script.uses(parameter, now, rank)).toArray();
        // Each pause adds the same gradient again; a power of two is exact.
        Tensor mean = model.mean(i, step, divisor, repeated(users, script.pauses + 1));
        adam.step(i, model.parameters().get(i).value(), mean);
      }
    }
    return model.bits();
  }

  private static int[] repeated(int[] ranks, int times) {
    return IntStream.range(0, times).flatMap(i -> Arrays.stream(ranks)).toArray();
  }

  private static CompletableFuture<Tensor> allReduce(GradientBucket bucket) {
    Tensor buffer = bucket.buffer();
    return bucket
        .group()
        .allReduce(buffer, ReduceOp.SUM)
        .future()
        .thenApply(
            done -> {
              Tiles.divide(buffer, bucket.divisor());
              return buffer;
            });
  }

  private static List<String> train(ProcessGroup group, Script script) throws Exception {
    SharedModel model = new SharedModel();
    List<Parameter> parameters =
        model.parameters().stream()
            .map(each -> script.parameter(each.name(), each.value()))
            .toList();
    try (GradientReducer reducer = GradientReducer.create(group, parameters, script.options())) {
      ZeroRedundancyOptimizer zero =
          ZeroRedundancyOptimizer.create(
              group,
              parameters,
              new AdamOptimizer(ADAM),
              script.stepsInHook
                  ? ZeroOptions.defaults().withStepsInHook()
                  : ZeroOptions.defaults().withAveragedGradients(reducer::gradient));
      CommHook reduction = script.hook ? JoinedTrainingTest::allReduce : CommHooks.allReduce();
      if (script.stepsInHook) {
        reducer.setCommHook(zero.hook(reduction));
      } else if (script.hook) {
        reducer.setCommHook(reduction);
      }
      Join.run(
          new JoinOptions().withDivideByInitialSize(script.initial),
          script.stepsInHook ? List.of(reducer) : List.of(reducer, zero),
          () -> {
            for (int step = 0; step < script.lengths[group.rank()]; step++) {
              step(reducer, model, script, step);
              if (!script.stepsInHook) {
                zero.step();
              }
            }
            return null;
          });
      return model.bits();
    }
  }

  private static void step(GradientReducer reducer, SharedModel model, Script script, int step) {
    for (int i = 0; i < model.parameters().size(); i++) {
      reducer.gradient(i).copyFrom(StateParts.zeros(reducer.gradient(i)));
    }
    for (int pause = 0; pause < script.pauses; pause++) {
      try (NoSync paused = reducer.noSync()) {
        assertThat(paused).isNotNull();
        backward(reducer, model, script, step);
      }
    }
    backward(reducer, model, script, step);
  }

  private static void backward(
      GradientReducer reducer, SharedModel model, Script script, int step) {
    reducer.beginForward();
    int rank = reducer.processGroup().rank();
    BitSet unused = new BitSet();
    for (int i = 0; i < model.parameters().size(); i++) {
      unused.set(i, !script.uses(i, step, rank));
    }
    reducer.beginBackward(step % 2 == 0 ? unused : new BitSet());
    for (int i = model.parameters().size() - 1; i >= 0; i--) {
      if (!unused.get(i)) {
        add(reducer.gradient(i), model.gradient(i, step, rank));
        reducer.markReady(i);
      }
    }
    reducer.finish();
  }

  private static void add(Tensor sum, Tensor gradient) {
    Tiles.update(
        0,
        gradient,
        (slope, tensors, count) -> {
          for (int i = 0; i < count; i++) {
            tensors[0][i] += slope[i];
          }
        },
        sum);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void anyTrainingGivesTheBitsOfOneThreadOnAllRanks(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 8; i++) {
      Script script = Script.random(random);
      assertThat(GroupRuns.run(script.lengths.length, Paths.HEAP, group -> train(group, script)))
          .as("seed %d, training %d: %s", seed, i, script)
          .containsOnly(expected(script));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"DETAIL", "SHM", "TCP", "MIXED"})
  void ranksWithoutRowsTakePartOnAllPaths(Paths paths) {
    for (Script script :
        List.of(
            new Script(new int[] {3, 0, 1}, 1, false, true, false, false, false),
            new Script(new int[] {0, 2, 4}, 0, true, false, true, true, false),
            new Script(new int[] {2, 0, 3}, 1, false, true, true, false, true))) {
      assertThat(GroupRuns.run(3, paths, group -> train(group, script)))
          .as("%s", script)
          .containsOnly(expected(script));
    }
  }

  @Test
  void theWeightedMeanTrainsAsOneProcessHoweverTheRowsAreDistributed() {
    // Fits y = 3 x - 1 on 24 rows, four of all ranks in each step, in any distribution.
    float[] expected = fit(new int[][] {IntStream.range(0, 24).toArray()}, new int[] {24});
    for (int[] shares : new int[][] {{1, 3}, {2, 2}, {0, 4}, {1, 0, 3}, {2, 1, 1}}) {
      assertThat(fit(rowsOf(shares), shares)).containsExactly(expected, within(1e-5f));
    }
  }

  /** Deals the rows of each step to the ranks. */
  private static int[][] rowsOf(int[] shares) {
    List<List<Integer>> rows = new ArrayList<>();
    Arrays.stream(shares).forEach(each -> rows.add(new ArrayList<>()));
    for (int row = 0; row < 24; ) {
      for (int rank = 0; rank < shares.length; rank++) {
        for (int i = 0; i < shares[rank]; i++) {
          rows.get(rank).add(row++);
        }
      }
    }
    return rows.stream()
        .map(each -> each.stream().mapToInt(i -> i).toArray())
        .toArray(int[][]::new);
  }

  private static float[] fit(int[][] rows, int[] shares) {
    return GroupRuns.run(rows.length, Paths.HEAP, group -> fit(group, rows, shares)).get(0);
  }

  private static float[] fit(ProcessGroup group, int[][] rows, int[] shares) throws Exception {
    float[] line = new float[2];
    List<Parameter> parameters = List.of(Parameter.of("line", Tensor.of(line)));
    int share = rows.length == 1 ? 4 : shares[group.rank()];
    int[] own = rows[group.rank()];
    try (GradientReducer reducer =
        GradientReducer.create(
            group, parameters, ReducerOptions.defaults().withWeightedMean(true))) {
      ZeroRedundancyOptimizer zero =
          ZeroRedundancyOptimizer.create(
              group,
              parameters,
              new SgdOptimizer(new SgdOptions(0.1).withMomentum(0.5)),
              ZeroOptions.defaults().withAveragedGradients(reducer::gradient));
      Join.run(
          new JoinOptions(),
          List.of(reducer, zero),
          () -> {
            for (int at = 0; at < own.length; at += share) {
              reducer.gradient(0).copyFrom(gradient(line, Arrays.copyOfRange(own, at, at + share)));
              reducer.setWeight(share);
              reducer.beginForward();
              reducer.reduce();
              zero.step();
            }
            return null;
          });
    }
    return line;
  }

  /** Returns the gradient of the mean squared error over some rows. */
  private static float[] gradient(float[] line, int[] rows) {
    float[] gradient = new float[2];
    for (int row : rows) {
      float x = row / 12f - 1;
      float error = line[0] * x + line[1] - (3 * x - 1);
      gradient[0] += 2 * error * x / rows.length;
      gradient[1] += 2 * error / rows.length;
    }
    return gradient;
  }

  @Test
  void aRankThatThrowsEndsTheTrainingOfAllWithItsException() {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          Script script = new Script(new int[] {9, 2, 9}, 0, true, false, false, false, false);
          assertThatThrownBy(
                  () -> {
                    SharedModel model = new SharedModel();
                    List<Parameter> parameters = model.parameters();
                    try (GradientReducer reducer =
                        GradientReducer.create(group, parameters, script.options())) {
                      Join.run(
                          new JoinOptions(),
                          List.of(reducer),
                          () -> {
                            for (int step = 0; step < script.lengths[group.rank()]; step++) {
                              if (group.rank() == 2 && step == 4) {
                                throw new IllegalStateException("a bad row");
                              }
                              step(reducer, model, script, step);
                            }
                            return null;
                          });
                    }
                  })
              .isInstanceOf(
                  group.rank() == 2 ? IllegalStateException.class : CollectiveException.class)
              .hasMessageContaining("a bad row");
          return null;
        });
  }
}
