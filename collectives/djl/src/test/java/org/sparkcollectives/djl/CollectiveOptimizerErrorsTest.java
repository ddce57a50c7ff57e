package org.sparkcollectives.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.Trainer;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ddp.ReducerOptions;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

@Timeout(120)
@ExtendWith(LeakCheck.class)
class CollectiveOptimizerErrorsTest {

  @BeforeAll
  static void needsPyTorch() {
    Engines.assumePyTorch();
  }

  private static CollectiveOptimizer optimizer(ProcessGroup group, Block block) {
    return CollectiveOptimizer.of(group, block, RankTraining.sgd(), ReducerOptions.defaults());
  }

  private static void give(CollectiveOptimizer optimizer, Parameter parameter) {
    NDArray weight = parameter.getArray();
    float[] ones = new float[(int) weight.size()];
    Arrays.fill(ones, 1);
    try (NDArray gradient = weight.getManager().create(ones, weight.getShape())) {
      optimizer.update(parameter.getId(), weight, gradient);
    }
  }

  /**
   * Makes a step in which rank 1 does something wrong. All ranks must throw, rank 1 what it did,
   * and nothing be updated; the step after that must work.
   */
  private static List<Throwable> afterAnError(BiConsumer<CollectiveOptimizer, Block> wrong) {
    return GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          try (Model model = Models.twoLayers(0);
              CollectiveOptimizer optimizer = optimizer(group, model.getBlock())) {
            Block block = model.getBlock();
            List<float[]> before = Models.values(block);
            Throwable thrown =
                catchThrowable(
                    () -> {
                      if (group.rank() == 1) {
                        wrong.accept(optimizer, block);
                      }
                      block.getParameters().values().forEach(each -> give(optimizer, each));
                    });
            for (int i = 0; i < before.size(); i++) {
              assertThat(Models.values(block).get(i)).containsExactly(before.get(i));
            }
            block.getParameters().values().forEach(each -> give(optimizer, each));
            assertThat(Models.values(block).get(0)[0]).isEqualTo(before.get(0)[0] - 0.2f);
            return thrown;
          }
        });
  }

  @Test
  void aParameterThatIsUpdatedTwiceInAStepFailsItOnAllRanks() {
    List<Throwable> thrown =
        afterAnError(
            (optimizer, block) -> {
              give(optimizer, block.getParameters().get(2).getValue());
              give(optimizer, block.getParameters().get(2).getValue());
            });
    assertThat(thrown.get(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("Rank 1 updates 03Linear_weight twice, and in the step before not ")
        .hasMessageContaining("01Linear_weight, 01Linear_bias, 03Linear_bias");
    for (int rank : new int[] {0, 2}) {
      assertThat(thrown.get(rank))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("failed on all ranks, here on rank " + rank)
          .hasMessageContaining("rank 1 discarded the step");
    }
  }

  @Test
  void aParameterThatWasFrozenAtFirstFailsTheStepOnAllRanks() {
    List<Throwable> thrown =
        afterAnError(
            (optimizer, block) -> {
              Parameter stranger =
                  Parameter.builder().setName("head").setType(Parameter.Type.WEIGHT).build();
              stranger.setArray(block.getParameters().get(0).getValue().getArray().duplicate());
              give(optimizer, stranger);
            });
    assertThat(thrown.get(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(
            "Rank 1 updates a parameter head of the shape (4, 5) that was frozen");
    assertThat(thrown.get(0)).hasMessageContaining("rank 1 discarded the step");
    assertThat(thrown.get(2)).hasMessageContaining("rank 1 discarded the step");
  }

  @Test
  void aGradientOfAnotherTypeAndACopyOfAParameterFailTheStepOnAllRanks() {
    List<Throwable> thrown =
        afterAnError(
            (optimizer, block) -> {
              Parameter first = block.getParameters().get(0).getValue();
              try (NDArray gradient = first.getArray().toType(DataType.FLOAT64, true)) {
                optimizer.update(first.getId(), first.getArray(), gradient);
              }
            });
    assertThat(thrown.get(1))
        .hasMessage(
            "The gradient of 01Linear_weight is float64(4, 5), and the parameter float32(4, 5)");
    thrown =
        afterAnError(
            (optimizer, block) -> {
              Parameter first = block.getParameters().get(0).getValue();
              try (NDArray copy = first.getArray().duplicate()) {
                optimizer.update(first.getId(), copy, copy);
              }
            });
    assertThat(thrown.get(1)).hasMessageContaining("train on one device");
    assertThat(thrown.get(0)).hasMessageContaining("rank 1 discarded the step");
  }

  @Test
  void aParameterThatIsFrozenLaterIsNamedInTheNextStepOnAllRanks() {
    List<Throwable> thrown =
        GroupRuns.run(
            2,
            Paths.HEAP,
            group -> {
              try (Model model = Models.twoLayers(0);
                  CollectiveOptimizer optimizer = optimizer(group, model.getBlock());
                  Trainer trainer = RankTraining.trainer(model, RankTraining.config(optimizer))) {
                RankTraining.backward(trainer, 1, 2);
                trainer.step();
                if (group.rank() == 0) {
                  model.getBlock().getParameters().get(1).getValue().freeze(true);
                }
                return catchThrowable(
                    () -> {
                      for (int step = 0; step < 2; step++) {
                        RankTraining.backward(trainer, 3, 4);
                        trainer.step();
                      }
                    });
              }
            });
    assertThat(thrown.get(0)).hasMessageContaining("in the step before not 01Linear_bias");
    assertThat(thrown.get(1)).hasMessageContaining("rank 0 discarded the step");
  }

  @Test
  void aBlockThatOneRankHasNotInitializedIsRefusedOnAllRanks() {
    List<Throwable> thrown =
        GroupRuns.run(
            3,
            Paths.SHM,
            group -> {
              try (Model model = Models.twoLayers(0)) {
                Block block = group.rank() == 1 ? Models.twoLayerBlock() : model.getBlock();
                return catchThrowable(() -> optimizer(group, block));
              }
            });
    for (int rank = 0; rank < 3; rank++) {
      assertThat(thrown.get(rank))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("here rank " + rank)
          .hasMessageContaining("rank 1: ")
          .hasMessageContaining("The parameter 01Linear_weight of the block is not initialized");
    }
  }

  @Test
  void blocksThatDifferAreRefusedOnAllRanksWithTheFirstDifference() {
    List<Throwable> thrown =
        GroupRuns.run(
            2,
            Paths.TCP,
            group -> {
              try (Model model = Model.newInstance("differs", "PyTorch")) {
                Block block =
                    new SequentialBlock().add(Linear.builder().setUnits(2 + group.rank()).build());
                block.initialize(model.getNDManager(), DataType.FLOAT32, new Shape(1, 5));
                return catchThrowable(() -> optimizer(group, block));
              }
            });
    assertThat(thrown)
        .allSatisfy(
            each ->
                assertThat(each)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("rank 0 gives parameter")
                    .hasMessageContaining("01Linear_weight"));
  }

  @Test
  void parametersThatOneRankHasFrozenAreRefusedOnAllRanks() {
    List<Throwable> thrown =
        GroupRuns.run(
            2,
            Paths.HEAP,
            group -> {
              try (Model model = Models.twoLayers(0)) {
                Parameter second = model.getBlock().getParameters().get(1).getValue();
                second.freeze(group.rank() == 1);
                return catchThrowable(() -> optimizer(group, model.getBlock()));
              }
            });
    assertThat(thrown).allSatisfy(each -> assertThat(each).hasMessageContaining("01Linear_bias"));
  }

  @Test
  void aStepThatEndsTooEarlyIsToldByCloseAndThenNothingIsTouched() {
    GroupRuns.run(
        1,
        GroupOptions.defaults(),
        group -> {
          try (Model model = Models.twoLayers(0)) {
            Block block = model.getBlock();
            CollectiveOptimizer optimizer = optimizer(group, block);
            give(optimizer, block.getParameters().get(0).getValue());
            assertThatThrownBy(optimizer::stepWithoutRows)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("during a step: 01Linear_bias, 03Linear_weight");
            assertThatThrownBy(optimizer::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("The last step on rank 0 was not made: 01Linear_bias");
            optimizer.close();
            List<float[]> before = Models.values(block);
            assertThatThrownBy(() -> give(optimizer, block.getParameters().get(0).getValue()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("rank 0 after the optimizer was closed");
            assertThatThrownBy(optimizer::stepWithoutRows)
                .hasMessageContaining("rank 0 after the optimizer was closed");
            assertThat(Models.values(block).get(0)).containsExactly(before.get(0));
          }
          return null;
        });
  }
}
