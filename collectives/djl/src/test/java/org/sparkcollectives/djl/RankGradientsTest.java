package org.sparkcollectives.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RankGradientsTest {

  @BeforeAll
  static void needsPyTorch() {
    Engines.assumePyTorch();
  }

  /** Computes the loss of some rows. */
  private static NDArray loss(Model model, NDManager manager, long seed) {
    ParameterStore store = new ParameterStore(manager, false);
    NDArray rows = Models.rows(manager, seed, 6);
    return model
        .getBlock()
        .forward(store, new NDList(rows), true)
        .singletonOrThrow()
        .square()
        .sum();
  }

  private static List<float[]> engineGradients(long seed) {
    try (Model model = Models.twoLayers(seed);
        NDManager manager = model.getNDManager().newSubManager();
        GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
      collector.backward(loss(model, manager, seed));
      return Models.gradients(model.getBlock());
    }
  }

  private static boolean records(Model model) {
    try (NDManager manager = model.getNDManager().newSubManager()) {
      PyTorchAutograd.of(Engine.getEngine("PyTorch")).backward(loss(model, manager, 1));
      return true;
    } catch (EngineException e) {
      return false;
    }
  }

  @Test
  void ranksThatCollectAtTheSameTimeEachGetTheGradientsOfTheirOwnRows() {
    int ranks = 3;
    List<List<float[]>> expected =
        IntStream.range(0, ranks).mapToObj(RankGradientsTest::engineGradients).toList();
    CyclicBarrier together = new CyclicBarrier(ranks);
    List<CompletableFuture<List<float[]>>> found =
        IntStream.range(0, ranks)
            .mapToObj(
                rank ->
                    CompletableFuture.supplyAsync(
                        () -> collected(rank, together), task -> new Thread(task).start()))
            .toList();
    for (int rank = 0; rank < ranks; rank++) {
      assertThat(found.get(rank).join())
          .usingRecursiveComparison()
          .as("rank %d", rank)
          .isEqualTo(expected.get(rank));
    }
  }

  private static List<float[]> collected(int rank, CyclicBarrier together) {
    try (Model model = Models.twoLayers(rank);
        NDManager manager = model.getNDManager().newSubManager();
        RankGradients gradients = RankGradients.open(model.getBlock())) {
      await(together);
      NDArray loss = loss(model, manager, rank);
      await(together);
      gradients.backward(loss);
      await(together);
      return Models.gradients(model.getBlock());
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await(20, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void itCollectsWhileTheEnginesOwnCollectorIsOpen() {
    try (Model model = Models.twoLayers(1);
        NDManager manager = model.getNDManager().newSubManager();
        GradientCollector other = Engine.getEngine("PyTorch").newGradientCollector();
        RankGradients gradients = RankGradients.open(model.getBlock())) {
      assertThat(other).isNotNull();
      gradients.backward(loss(model, manager, 1));
      assertThat(Models.gradients(model.getBlock()).get(0)).doesNotContain(0f);
    }
  }

  @Test
  void recordingEndsWithTheOutermostOne() {
    try (Model model = Models.twoLayers(1);
        RankGradients outer = RankGradients.open(model.getBlock())) {
      RankGradients inner = RankGradients.open(model.getBlock());
      assertThat(records(model)).isTrue();
      inner.close();
      inner.close();
      assertThat(records(model)).isTrue();
      outer.zeroGradients();
    }
  }

  @Test
  void aThreadThatDidNotRecordDoesNotRecordAfterwards() {
    try (Model model = Models.twoLayers(1)) {
      PyTorchAutograd autograd = PyTorchAutograd.of(Engine.getEngine("PyTorch"));
      boolean before = autograd.isOn();
      try {
        autograd.turn(false);
        assertThat(records(model)).isFalse();
        try (RankGradients gradients = RankGradients.open(model.getBlock())) {
          assertThat(records(model)).isTrue();
          gradients.zeroGradients();
        }
        assertThat(records(model)).isFalse();
      } finally {
        autograd.turn(before);
      }
    }
  }

  @Test
  void gradientsAddUpUntilTheyAreSetToZeroEvenIfTheyAreNotFinite() {
    try (Model model = Models.twoLayers(4);
        NDManager manager = model.getNDManager().newSubManager();
        RankGradients gradients = RankGradients.open(model.getBlock())) {
      Block block = model.getBlock();
      gradients.zeroGradients(); // Without any gradient yet.
      gradients.backward(loss(model, manager, 4));
      float[] once = Models.gradients(block).get(0);
      gradients.backward(loss(model, manager, 4));
      float[] twice = Models.gradients(block).get(0);
      for (int i = 0; i < once.length; i++) {
        assertThat(twice[i]).isEqualTo(2 * once[i]);
      }
      gradients.backward(loss(model, manager, 4).div(0));
      assertThat(Models.gradients(block).get(0)[0]).isNaN();
      gradients.zeroGradients();
      for (float[] values : Models.gradients(block)) {
        assertThat(values).containsOnly(0f);
      }
      gradients.backward(loss(model, manager, 4));
      assertThat(Models.gradients(block).get(0)).containsExactly(once);
    }
  }

  @Test
  void aFrozenParameterGetsNoGradient() {
    try (Model model = Models.twoLayers(4);
        NDManager manager = model.getNDManager().newSubManager()) {
      Block block = model.getBlock();
      block.getParameters().get(0).getValue().freeze(true);
      try (RankGradients gradients = RankGradients.open(block)) {
        gradients.backward(loss(model, manager, 4));
        gradients.zeroGradients();
      }
      assertThat(block.getParameters().get(0).getValue().getArray().hasGradient()).isFalse();
    }
  }

  @Test
  void anotherThreadAndACallAfterCloseAreRefused() {
    try (Model model = Models.twoLayers(4);
        NDManager manager = model.getNDManager().newSubManager()) {
      RankGradients gradients = RankGradients.open(model.getBlock());
      assertThatThrownBy(() -> CompletableFuture.runAsync(gradients::zeroGradients).join())
          .isInstanceOf(CompletionException.class)
          .cause()
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("zeroGradients by the thread ")
          .hasMessageContaining(Thread.currentThread().getName())
          .hasMessageContaining("open them where they are used");
      assertThatThrownBy(() -> CompletableFuture.runAsync(gradients::close).join())
          .hasMessageContaining("close by the thread");
      NDArray loss = loss(model, manager, 4);
      gradients.close();
      assertThatThrownBy(() -> gradients.backward(loss))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("backward after the gradients were closed");
    }
  }

  @Test
  void aBlockThatIsNotInitializedOrHasNothingToTrainIsRefused() {
    assertThatThrownBy(() -> RankGradients.open(Models.twoLayerBlock()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("The parameter 01Linear_weight of the block is not initialized")
        .hasMessageContaining("block.initialize(manager, dataType, shapes)");
    try (Model model = Models.twoLayers(1)) {
      model.getBlock().freezeParameters(true);
      assertThatThrownBy(() -> RankGradients.open(model.getBlock()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("no parameter to train")
          .hasMessageContaining("4 parameters frozen");
    }
  }
}
