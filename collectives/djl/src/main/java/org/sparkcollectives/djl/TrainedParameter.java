package org.sparkcollectives.djl;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A parameter of a block that is trained: it is initialized, and not frozen.
 *
 * @param name its name in the block, which is the same on every rank
 */
record TrainedParameter(String name, Parameter parameter) {

  /**
   * Returns the trained parameters of a block in the block's order. One that several layers share
   * is there once, where it is first used.
   *
   * @throws IllegalArgumentException if one is not initialized, or none is trained
   */
  static List<TrainedParameter> of(Block block) {
    List<TrainedParameter> trained = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (Pair<String, Parameter> named : block.getParameters()) {
      Parameter parameter = named.getValue();
      if (!parameter.isInitialized()) {
        throw new IllegalArgumentException(
            "The parameter "
                + named.getKey()
                + " of the block is not initialized; call block.initialize(manager, dataType,"
                + " shapes) first");
      }
      if (parameter.requiresGradient() && seen.add(parameter.getId())) {
        trained.add(new TrainedParameter(named.getKey(), parameter));
      }
    }
    if (trained.isEmpty()) {
      throw new IllegalArgumentException(
          "The block has no parameter to train; is every one of its "
              + block.getParameters().size()
              + " parameters frozen?");
    }
    return List.copyOf(trained);
  }

  NDArray array() {
    return parameter.getArray();
  }

  Engine engine() {
    return array().getManager().getEngine();
  }
}
