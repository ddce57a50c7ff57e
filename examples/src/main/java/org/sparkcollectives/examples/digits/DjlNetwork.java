package org.sparkcollectives.examples.digits;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import java.util.List;

/** The network of {@link Network} as a block of DJL. */
final class DjlNetwork {

  private final NetworkShape shape;
  private final Block block;

  /** Creates a network with the parameters of {@code shape}, which are copied. */
  DjlNetwork(NDManager manager, NetworkShape shape, double[] parameters) {
    this.shape = shape;
    SequentialBlock layers = new SequentialBlock();
    if (shape.hidden() > 0) {
      layers.add(Linear.builder().setUnits(shape.hidden()).build()).add(Activation::relu);
    }
    block = layers.add(Linear.builder().setUnits(shape.classes()).build());
    block.initialize(manager, DataType.FLOAT32, new Shape(1, shape.inputs()));
    set(parameters);
  }

  Block block() {
    return block;
  }

  /** Walks over all parameters in the order of {@link Network}, with their places in the block. */
  private interface Visitor {
    /** Visits a parameter: an element of an array of the block, of the given position. */
    void visit(int parameter, float[] array, int position);
  }

  private void visit(List<float[]> arrays, Visitor visitor) {
    int next = 0;
    int inputs = shape.inputs();
    for (int layer = 0; layer < arrays.size(); layer += 2) {
      float[] weights = arrays.get(layer);
      float[] biases = arrays.get(layer + 1);
      for (int o = 0; o < biases.length; o++) {
        for (int i = 0; i < inputs; i++) {
          visitor.visit(next++, weights, o * inputs + i);
        }
        visitor.visit(next++, biases, o);
      }
      inputs = biases.length;
    }
  }

  private List<NDArray> arrays() {
    return block.getParameters().values().stream().map(Parameter::getArray).toList();
  }

  private void set(double[] parameters) {
    List<NDArray> arrays = arrays();
    List<float[]> values =
        arrays.stream().map(array -> new float[Math.toIntExact(array.size())]).toList();
    visit(values, (parameter, array, position) -> array[position] = (float) parameters[parameter]);
    for (int i = 0; i < values.size(); i++) {
      arrays.get(i).set(values.get(i));
    }
  }

  /** Returns a copy of the parameters, in the order of {@link Network}. */
  double[] parameters() {
    double[] parameters = new double[shape.parameterCount()];
    visit(
        arrays().stream().map(NDArray::toFloatArray).toList(),
        (parameter, array, position) -> parameters[parameter] = array[position]);
    return parameters;
  }
}
