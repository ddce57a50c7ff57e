package org.sparkcollectives.zero;

import java.util.Map;
import java.util.Set;
import org.sparkcollectives.Tensor;

/** Checks and copies the parts of a parameter's state. */
final class StateParts {

  private StateParts() {}

  /** Refuses a state with other parts than {@code names}. */
  static void require(int parameter, Map<String, Tensor> state, Set<String> names) {
    if (!state.keySet().equals(names)) {
      throw new IllegalArgumentException(
          "The state of parameter "
              + parameter
              + " has the parts "
              + state.keySet()
              + ", and this optimizer has "
              + names);
    }
  }

  static Tensor copy(Tensor tensor) {
    Tensor copy = Tensor.allocate(tensor.dtype(), tensor.shape());
    copy.copyFrom(tensor);
    return copy;
  }

  /** Returns zeros like a tensor. */
  static Tensor zeros(Tensor like) {
    return Tensor.allocate(like.dtype(), like.shape());
  }
}
