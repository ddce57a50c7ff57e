package org.sparkcollectives.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Makes small models with given values. */
final class Models {

  static final int FEATURES = 5;
  static final int CLASSES = 3;

  private Models() {}

  /** Returns a model of two layers, whose values follow from the seed. */
  static Model twoLayers(long seed) {
    Model model = Model.newInstance("two-layers", "PyTorch");
    model.setBlock(twoLayerBlock());
    model.getBlock().initialize(model.getNDManager(), DataType.FLOAT32, new Shape(1, FEATURES));
    fill(model.getBlock(), seed);
    return model;
  }

  static Block twoLayerBlock() {
    return new SequentialBlock()
        .add(Linear.builder().setUnits(4).build())
        .add(Activation::tanh)
        .add(Linear.builder().setUnits(CLASSES).build());
  }

  static void fill(Block block, long seed) {
    Random random = new Random(seed);
    for (Parameter parameter : block.getParameters().values()) {
      float[] values = new float[(int) parameter.getArray().size()];
      for (int i = 0; i < values.length; i++) {
        values[i] = (float) random.nextGaussian() / 2;
      }
      parameter.getArray().set(values);
    }
  }

  /** Returns the values of all parameters, in the block's order. */
  static List<float[]> values(Block block) {
    List<float[]> values = new ArrayList<>();
    block.getParameters().values().forEach(p -> values.add(p.getArray().toFloatArray()));
    return values;
  }

  /** Returns the gradients of all parameters that have one. */
  static List<float[]> gradients(Block block) {
    List<float[]> gradients = new ArrayList<>();
    for (Parameter parameter : block.getParameters().values()) {
      try (NDArray gradient = parameter.getArray().getGradient()) {
        gradients.add(gradient.toFloatArray());
      }
    }
    return gradients;
  }

  /** Returns random rows. */
  static NDArray rows(NDManager manager, long seed, int count) {
    Random random = new Random(seed);
    float[] values = new float[count * FEATURES];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return manager.create(values, new Shape(count, FEATURES));
  }
}
