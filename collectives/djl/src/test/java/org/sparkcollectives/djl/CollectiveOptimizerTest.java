package org.sparkcollectives.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ddp.GradientReducer;
import org.sparkcollectives.ddp.ReducerOptions;
import org.sparkcollectives.join.Join;
import org.sparkcollectives.join.JoinOptions;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

@Timeout(120)
@ExtendWith(LeakCheck.class)
class CollectiveOptimizerTest {

  private static final int STEPS = 6;
  private static final int BATCH = 8;

  @BeforeAll
  static void needsPyTorch() {
    Engines.assumePyTorch();
  }

  /** Trains in one process on all rows; returns the values after each step. */
  private static List<List<float[]>> alone(Supplier<Optimizer> optimizer) {
    List<List<float[]>> course = new ArrayList<>();
    try (Model model = Models.twoLayers(0);
        Trainer trainer = RankTraining.trainer(model, RankTraining.config(optimizer.get()))) {
      for (int step = 0; step < STEPS; step++) {
        RankTraining.backward(trainer, RankTraining.range(step * BATCH, BATCH));
        trainer.step();
        course.add(Models.values(model.getBlock()));
      }
    }
    return course;
  }

  private static List<List<float[]>> asRank(ProcessGroup group, Supplier<Optimizer> inner) {
    List<List<float[]>> course = new ArrayList<>();
    try (Model model = Models.twoLayers(group.rank());
        CollectiveOptimizer optimizer =
            CollectiveOptimizer.of(
                group, model.getBlock(), inner.get(), ReducerOptions.defaults());
        Trainer trainer = RankTraining.trainer(model, RankTraining.config(optimizer))) {
      for (int step = 0; step < STEPS; step++) {
        RankTraining.backward(
            trainer, RankTraining.share(step * BATCH, BATCH, group.rank(), group.size()));
        trainer.step();
        course.add(Models.values(model.getBlock()));
      }
    }
    return course;
  }

  private static void assertClose(List<float[]> found, List<float[]> expected) {
    for (int i = 0; i < expected.size(); i++) {
      assertThat(found.get(i)).containsExactly(expected.get(i), within(1e-6f));
    }
  }

  private static void assertSameBits(List<float[]> found, List<float[]> expected) {
    for (int i = 0; i < expected.size(); i++) {
      assertThat(found.get(i)).containsExactly(expected.get(i));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "SHM", "TCP", "MIXED"})
  void ranksHaveTheSameBitsAfterEachStepAndThoseOfOneProcessOnAllRows(Paths paths) {
    List<List<float[]>> expected = alone(RankTraining::sgd);
    List<List<List<float[]>>> courses =
        GroupRuns.run(4, paths, group -> asRank(group, RankTraining::sgd));
    for (int step = 0; step < STEPS; step++) {
      for (List<List<float[]>> course : courses) {
        assertSameBits(course.get(step), courses.get(0).get(step));
        assertClose(course.get(step), expected.get(step));
      }
    }
    assertThat(expected.get(0)).isNotEqualTo(expected.get(STEPS - 1));
  }

  @Test
  void adamTrainsAsInOneProcess() {
    List<List<float[]>> expected = alone(RankTraining::adam);
    List<List<List<float[]>>> courses =
        GroupRuns.run(2, GroupOptions.defaults(), group -> asRank(group, RankTraining::adam));
    assertSameBits(courses.get(1).get(STEPS - 1), courses.get(0).get(STEPS - 1));
    assertClose(courses.get(0).get(STEPS - 1), expected.get(STEPS - 1));
  }

  @Test
  void easyTrainIsDistributedWithoutAChange() {
    List<float[]> expected;
    try (Model model = Models.twoLayers(0)) {
      fit(model, RankTraining.trainer(model, RankTraining.config(RankTraining.sgd())), BATCH, 0, 1);
      expected = Models.values(model.getBlock());
    }
    List<List<float[]>> found =
        GroupRuns.run(
            2,
            GroupOptions.defaults(),
            group -> {
              try (Model model = Models.twoLayers(group.rank());
                  CollectiveOptimizer optimizer =
                      CollectiveOptimizer.of(
                          group, model.getBlock(), RankTraining.sgd(), ReducerOptions.defaults())) {
                fit(
                    model,
                    RankTraining.trainer(model, RankTraining.config(optimizer)),
                    BATCH / 2,
                    group.rank(),
                    2);
                return Models.values(model.getBlock());
              }
            });
    assertSameBits(found.get(1), found.get(0));
    assertClose(found.get(0), expected);
  }

  /** Trains for two epochs, as a user does. */
  private static void fit(Model model, Trainer trainer, int batch, int rank, int ranks) {
    try (trainer) {
      trainer.initialize(new Shape(1, Models.FEATURES));
      int[] rows = RankTraining.share(0, RankTraining.ROWS, rank, ranks);
      EasyTrain.fit(trainer, 2, RankTraining.dataset(model.getNDManager(), batch, rows), null);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void theOrderOfUpdatesDoesNotMatter() {
    List<List<float[]>> found =
        GroupRuns.run(
            3,
            GroupOptions.defaults(),
            group -> {
              List<float[]> last = null;
              for (boolean shuffled : new boolean[] {false, true}) {
                List<float[]> values = updates(group, shuffled ? group.rank() + 5 : -1);
                if (last != null) {
                  assertSameBits(values, last);
                }
                last = values;
              }
              return last;
            });
    assertSameBits(found.get(1), found.get(0));
    assertSameBits(found.get(2), found.get(0));
  }

  /** Makes steps with given gradients, in an order that the seed decides; negative: the block's. */
  private static List<float[]> updates(ProcessGroup group, int seed) {
    try (Model model = Models.twoLayers(0);
        CollectiveOptimizer optimizer =
            CollectiveOptimizer.of(
                group, model.getBlock(), RankTraining.sgd(), ReducerOptions.defaults())) {
      Random order = new Random(seed);
      Random random = new Random(group.rank());
      for (int step = 0; step < 4; step++) {
        List<Runnable> updates = new ArrayList<>();
        for (Parameter parameter : model.getBlock().getParameters().values()) {
          float[] values = new float[(int) parameter.getArray().size()];
          for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
          }
          updates.add(() -> give(optimizer, parameter, values));
        }
        if (seed >= 0) {
          Collections.shuffle(updates, order);
        }
        updates.forEach(Runnable::run);
      }
      return Models.values(model.getBlock());
    }
  }

  private static void give(CollectiveOptimizer optimizer, Parameter parameter, float... values) {
    NDArray weight = parameter.getArray();
    try (NDArray gradient = weight.getManager().create(values, weight.getShape())) {
      optimizer.update(parameter.getId(), weight, gradient);
    }
  }

  @Test
  void aGradientWhoseElementsLieInAnotherOrderIsTakenByItsIndices() {
    GroupRuns.run(
        1,
        GroupOptions.defaults(),
        group -> {
          try (Model model = Model.newInstance("square", "PyTorch")) {
            Block block =
                new SequentialBlock().add(Linear.builder().setUnits(2).optBias(false).build());
            block.initialize(model.getNDManager(), DataType.FLOAT32, new Shape(1, 2));
            NDArray weight = block.getParameters().get(0).getValue().getArray();
            weight.set(new float[4]);
            Optimizer plain = Optimizer.sgd().setLearningRateTracker(Tracker.fixed(1)).build();
            try (CollectiveOptimizer optimizer =
                    CollectiveOptimizer.of(group, block, plain, ReducerOptions.defaults());
                NDArray rows =
                    weight.getManager().create(new float[] {1, 2, 3, 4}, weight.getShape());
                NDArray columns = rows.transpose()) {
              optimizer.update(block.getParameters().get(0).getValue().getId(), weight, columns);
            }
            assertThat(weight.toFloatArray()).containsExactly(-1, -3, -2, -4);
          }
          return null;
        });
  }

  @Test
  void allRanksBeginWithTheValuesOfRankZeroAlsoWhereNothingIsTrained() {
    List<List<float[]>> found =
        GroupRuns.run(
            3,
            Paths.TCP,
            group -> {
              try (Model model = Model.newInstance("normed", "PyTorch")) {
                Block block =
                    new SequentialBlock()
                        .add(Linear.builder().setUnits(4).build())
                        .add(BatchNorm.builder().build());
                block.initialize(
                    model.getNDManager(), DataType.FLOAT32, new Shape(2, Models.FEATURES));
                block.getParameters().get(0).getValue().freeze(true);
                Models.fill(block, group.rank());
                List<float[]> before = Models.values(block);
                CollectiveOptimizer.of(group, block, RankTraining.sgd(), ReducerOptions.defaults())
                    .close();
                if (group.rank() == 0) {
                  assertSameBits(Models.values(block), before);
                }
                return Models.values(block);
              }
            });
    assertThat(found.get(0)).hasSize(6);
    assertSameBits(found.get(1), found.get(0));
    assertSameBits(found.get(2), found.get(0));
  }

  @Test
  void frozenParametersStayAndTheOthersTrain() {
    List<List<float[]>> found =
        GroupRuns.run(
            2,
            Paths.SHM,
            group -> {
              try (Model model = Models.twoLayers(0)) {
                Block block = model.getBlock();
                block.getParameters().get(0).getValue().freeze(true);
                block.getParameters().get(3).getValue().freeze(true);
                List<float[]> before = Models.values(block);
                try (CollectiveOptimizer optimizer =
                        CollectiveOptimizer.of(
                            group, block, RankTraining.adam(), ReducerOptions.defaults());
                    Trainer trainer = RankTraining.trainer(model, RankTraining.config(optimizer))) {
                  for (int step = 0; step < 3; step++) {
                    RankTraining.backward(trainer, step, 3 + group.rank());
                    trainer.step();
                  }
                }
                List<float[]> after = Models.values(block);
                assertThat(after.get(0)).containsExactly(before.get(0));
                assertThat(after.get(3)).containsExactly(before.get(3));
                assertThat(after.get(1)).isNotEqualTo(before.get(1));
                assertThat(after.get(2)).isNotEqualTo(before.get(2));
                return after;
              }
            });
    assertSameBits(found.get(1), found.get(0));
  }

  @Test
  void theMeanIsOverRowsWhateverThePartitionsAre() {
    // Of each batch of 8 rows: 5, none, and 3.
    int[] ends = {0, 5, 5, 8};
    List<List<float[]>> expected = alone(RankTraining::sgd);
    List<List<float[]>> found =
        GroupRuns.run(
            3,
            GroupOptions.defaults(),
            group -> {
              try (Model model = Models.twoLayers(group.rank());
                  CollectiveOptimizer optimizer =
                      CollectiveOptimizer.of(
                          group,
                          model.getBlock(),
                          RankTraining.sgd(),
                          ReducerOptions.defaults().withWeightedMean(true));
                  Trainer trainer = RankTraining.trainer(model, RankTraining.config(optimizer))) {
                int first = ends[group.rank()];
                int count = ends[group.rank() + 1] - first;
                for (int step = 0; step < STEPS; step++) {
                  if (count == 0) {
                    optimizer.stepWithoutRows();
                  } else {
                    RankTraining.backward(trainer, RankTraining.range(step * BATCH + first, count));
                    optimizer.setWeight(count);
                    trainer.step();
                  }
                }
                return Models.values(model.getBlock());
              }
            });
    for (List<float[]> values : found) {
      assertSameBits(values, found.get(0));
      assertClose(values, expected.get(STEPS - 1));
    }
  }

  @Test
  void aStepWithoutRowsIsOneWithGradientsOfZero() {
    List<Float> found =
        GroupRuns.run(
            2,
            GroupOptions.defaults(),
            group -> {
              try (Model model = Models.twoLayers(0);
                  CollectiveOptimizer optimizer =
                      CollectiveOptimizer.of(
                          group,
                          model.getBlock(),
                          Optimizer.sgd().setLearningRateTracker(Tracker.fixed(1)).build(),
                          ReducerOptions.defaults())) {
                NDArray first = model.getBlock().getParameters().get(0).getValue().getArray();
                first.set(new float[20]);
                for (int step = 0; step < 2; step++) {
                  if (step == 1 && group.rank() == 1) {
                    optimizer.stepWithoutRows();
                    continue;
                  }
                  for (Parameter parameter : model.getBlock().getParameters().values()) {
                    float[] ones = new float[(int) parameter.getArray().size()];
                    Arrays.fill(ones, 1);
                    give(optimizer, parameter, ones);
                  }
                }
                return first.toFloatArray()[7];
              }
            });
    assertThat(found).containsExactly(-1.5f, -1.5f);
  }

  @Test
  void ranksWithFewerBatchesOrNoneJoinWhileTheOthersFit() {
    // Rows of each rank by step, in batches of two; the last rank has none.
    int[][] rows = {{0, 1, 4, 5, 7, 8}, {2, 3, 6}, {}};
    int[][] steps = {{0, 1, 2, 3}, {4, 5, 6}, {7, 8}};
    List<float[]> expected;
    try (Model model = Models.twoLayers(0);
        Trainer trainer = RankTraining.trainer(model, RankTraining.config(RankTraining.sgd()))) {
      for (int[] step : steps) {
        RankTraining.backward(trainer, step);
        trainer.step();
      }
      expected = Models.values(model.getBlock());
    }
    List<List<float[]>> found =
        GroupRuns.run(
            3,
            GroupOptions.defaults(),
            group -> {
              try (Model model = Models.twoLayers(group.rank());
                  CollectiveOptimizer optimizer =
                      CollectiveOptimizer.of(
                          group,
                          model.getBlock(),
                          RankTraining.sgd(),
                          ReducerOptions.defaults().withWeightedMean(true));
                  Trainer trainer =
                      RankTraining.trainer(
                          model,
                          RankTraining.config(optimizer)
                              .addTrainingListeners(optimizer.rowListener()))) {
                int[] own = rows[group.rank()];
                Join.run(
                    new JoinOptions(),
                    List.of(optimizer.reducer()),
                    () -> {
                      if (own.length > 0) {
                        EasyTrain.fit(
                            trainer, 1, RankTraining.dataset(model.getNDManager(), 2, own), null);
                      }
                      return null;
                    });
                return Models.values(model.getBlock());
              }
            });
    for (List<float[]> values : found) {
      assertSameBits(values, found.get(0));
      assertClose(values, expected);
    }
  }

  @Test
  void nativeGradientsAreReducedWhereTheyAreAndTheTrainersStepUsesThem() {
    List<List<float[]>> expected = alone(RankTraining::sgd);
    List<List<float[]>> found =
        GroupRuns.run(
            2,
            Paths.MIXED,
            group -> {
              try (Model model = Models.twoLayers(0);
                  Trainer trainer =
                      RankTraining.trainer(model, RankTraining.config(RankTraining.sgd()));
                  DjlParameters parameters = DjlParameters.of(model.getBlock());
                  GradientReducer reducer =
                      GradientReducer.create(group, parameters.list(), ReducerOptions.defaults())) {
                for (int step = 0; step < STEPS; step++) {
                  RankTraining.backward(
                      trainer, RankTraining.share(step * BATCH, BATCH, group.rank(), 2));
                  reducer.reduce();
                  trainer.step();
                }
                return Models.values(model.getBlock());
              }
            });
    assertSameBits(found.get(1), found.get(0));
    assertClose(found.get(0), expected.get(STEPS - 1));
  }
}
