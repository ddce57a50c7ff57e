package org.sparkcollectives.ddp;

import java.util.Map;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

/** Reads the saved state of a communication hook. */
final class HookState {

  private HookState() {}

  /**
   * Returns a tensor of a state.
   *
   * @param hook the name of the hook, for the error
   * @throws IllegalArgumentException if the tensor is missing, or has another type or length
   */
  static Tensor require(
      String hook, Map<String, Tensor> state, String key, DType type, long count) {
    Tensor tensor = state.get(key);
    if (tensor == null || tensor.dtype() != type || tensor.count() != count) {
      throw new IllegalArgumentException(
          "In the state of a "
              + hook
              + ", \""
              + key
              + "\" must have "
              + count
              + " elements of "
              + type.label()
              + ", but is "
              + tensor);
    }
    return tensor;
  }
}
