package org.sparkcollectives.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.training.ParameterStore;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

@Timeout(60)
class DjlParametersTest {

  @BeforeAll
  static void needsPyTorch() {
    Engines.assumePyTorch();
  }

  private static float[] floats(Tensor tensor) {
    float[] values = new float[Math.toIntExact(tensor.count())];
    tensor.copyTo(values);
    return values;
  }

  private static void backward(Model model) {
    Block block = model.getBlock();
    try (NDManager manager = model.getNDManager().newSubManager();
        RankGradients gradients = RankGradients.open(block)) {
      NDArray rows = Models.rows(manager, 3, 6);
      NDList out = block.forward(new ParameterStore(manager, false), new NDList(rows), true);
      gradients.backward(out.singletonOrThrow().square().sum());
    }
  }

  @Test
  void parametersComeInTheOrderOfTheBlockWithItsNamesAndShapes() {
    try (Model model = Models.twoLayers(1);
        DjlParameters parameters = DjlParameters.of(model.getBlock())) {
      assertThat(parameters.list())
          .extracting(org.sparkcollectives.ddp.Parameter::name)
          .containsExactlyElementsOf(model.getBlock().getParameters().keys());
      assertThat(parameters.list().get(0).value().shape()).containsExactly(4, Models.FEATURES);
      assertThat(parameters.list().get(0).gradient().shape()).containsExactly(4, Models.FEATURES);
      assertThat(parameters.list()).allMatch(one -> !one.sparse());
      List<float[]> values = Models.values(model.getBlock());
      for (int i = 0; i < values.size(); i++) {
        assertThat(floats(parameters.list().get(i).value())).containsExactly(values.get(i));
      }
    }
  }

  @Test
  void aGradientIsTheOneThatBackwardAddsToAndTheOptimizerReads() {
    try (Model model = Models.twoLayers(1);
        DjlParameters before = DjlParameters.of(model.getBlock())) {
      assertThat(before.list()).allSatisfy(p -> assertThat(floats(p.gradient())).containsOnly(0f));
      backward(model);
      try (DjlParameters after = DjlParameters.of(model.getBlock())) {
        List<float[]> expected = Models.gradients(model.getBlock());
        for (int i = 0; i < expected.size(); i++) {
          assertThat(expected.get(i))
              .as("some gradient")
              .isNotEqualTo(new float[expected.get(i).length]);
          assertThat(floats(before.list().get(i).gradient())).containsExactly(expected.get(i));
          float[] other = new float[expected.get(i).length];
          Arrays.fill(other, i + 0.5f);
          after.list().get(i).gradient().copyFrom(other);
          assertThat(Models.gradients(model.getBlock()).get(i)).containsExactly(other);
        }
      }
    }
  }

  @Test
  void aValueIsTheOneThatTheModelUses() {
    try (Model model = Models.twoLayers(1);
        DjlParameters parameters = DjlParameters.of(model.getBlock())) {
      parameters.list().get(3).value().copyFrom(new float[] {1, 2, 3});
      assertThat(Models.values(model.getBlock()).get(3)).containsExactly(1, 2, 3);
    }
  }

  @Test
  void frozenParametersAndStatisticsOfBatchesAreLeftOut() {
    try (Model model = Model.newInstance("normed", "PyTorch")) {
      model.setBlock(
          new SequentialBlock()
              .add(Linear.builder().setUnits(4).build())
              .add(BatchNorm.builder().build())
              .add(Linear.builder().setUnits(3).build()));
      Block block = model.getBlock();
      block.initialize(model.getNDManager(), DataType.FLOAT32, new Shape(2, Models.FEATURES));
      block.getParameters().get(0).getValue().freeze(true);
      try (DjlParameters parameters = DjlParameters.of(block)) {
        assertThat(parameters.list())
            .extracting(org.sparkcollectives.ddp.Parameter::name)
            .containsExactly(
                "01Linear_bias",
                "02BatchNorm_gamma",
                "02BatchNorm_beta",
                "03Linear_weight",
                "03Linear_bias");
      }
    }
  }

  @Test
  void aParameterThatTwoLayersShareIsThereOnce() {
    try (Model model = Model.newInstance("shared", "PyTorch")) {
      Linear layer = Linear.builder().setUnits(Models.FEATURES).build();
      model.setBlock(new SequentialBlock().add(layer).add(layer));
      Block block = model.getBlock();
      block.initialize(model.getNDManager(), DataType.FLOAT32, new Shape(2, Models.FEATURES));
      try (DjlParameters parameters = DjlParameters.of(block)) {
        assertThat(parameters.list()).hasSize(2);
      }
    }
  }

  @Test
  void aTransposedParameterIsRefusedByName() {
    try (Model model = Models.twoLayers(1)) {
      NDManager manager = model.getNDManager();
      Block block = new SequentialBlock().add(Linear.builder().setUnits(4).build());
      block.initialize(manager, DataType.FLOAT32, new Shape(1, 5));
      NDArray weight = block.getParameters().get(0).getValue().getArray();
      weight.intern(manager.create(new float[20], new Shape(5, 4)).transpose());
      weight.setRequiresGradient(true);
      assertThatThrownBy(() -> DjlParameters.of(block))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("The elements of the parameter 01Linear_weight of the shape (4, 5)")
          .hasMessageContaining("set a contiguous array");
    }
  }

  @Test
  void doublesKeepTheirTypeAndIntegersAreRefused() {
    try (Model model = Model.newInstance("double", "PyTorch")) {
      Block block = new SequentialBlock().add(Linear.builder().setUnits(2).build());
      block.initialize(model.getNDManager(), DataType.FLOAT64, new Shape(1, 3));
      try (DjlParameters parameters = DjlParameters.of(block)) {
        assertThat(parameters.list())
            .extracting(p -> p.gradient().dtype())
            .containsOnly(DType.FLOAT64);
      }
      try (NDArray whole = model.getNDManager().create(new int[2])) {
        assertThatThrownBy(() -> NativeMemory.dtype("The parameter p", whole))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("The parameter p has elements of the type int32");
      }
    }
  }

  @Test
  void theMemoryStaysUntilItIsClosedAlsoIfTheModelIsClosedFirst() {
    Model model = Models.twoLayers(1);
    DjlParameters parameters = DjlParameters.of(model.getBlock());
    backward(model);
    List<float[]> gradients = Models.gradients(model.getBlock());
    List<float[]> values = Models.values(model.getBlock());
    model.close();
    try (Model another = Models.twoLayers(2)) { // Takes memory that was given back.
      backward(another);
      for (int i = 0; i < values.size(); i++) {
        assertThat(floats(parameters.list().get(i).gradient())).containsExactly(gradients.get(i));
        assertThat(floats(parameters.list().get(i).value())).containsExactly(values.get(i));
      }
    }
    parameters.close();
    parameters.close();
  }

  @Test
  void theModelTrainsOnAfterTheParametersAreClosed() {
    try (Model model = Models.twoLayers(1)) {
      backward(model);
      List<float[]> once = Models.gradients(model.getBlock());
      DjlParameters.of(model.getBlock()).close();
      backward(model);
      List<float[]> twice = Models.gradients(model.getBlock());
      for (int i = 0; i < once.size(); i++) {
        for (int j = 0; j < once.get(i).length; j++) {
          assertThat(twice.get(i)[j]).isEqualTo(2 * once.get(i)[j]);
        }
      }
    }
  }
}
