package org.sparkcollectives.ddp;

import java.util.Objects;
import org.sparkcollectives.Tensor;

/**
 * A parameter of a model, whose gradients are averaged over the ranks.
 *
 * @param name the name, by which messages tell it from the others
 * @param value the values, the same on every rank when training begins
 * @param gradient where the engine adds its gradient, as many elements as {@code value} and of the
 *     same type; null if the reducer shall allocate it
 * @param sparse whether its gradients are sparse, such as those of an embedding
 */
public record Parameter(String name, Tensor value, Tensor gradient, boolean sparse) {

  /** Creates a parameter. */
  public Parameter {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(value, "value");
    if (gradient != null
        && (gradient.count() != value.count() || gradient.dtype() != value.dtype())) {
      throw new IllegalArgumentException(
          "The gradient of the parameter "
              + name
              + " is "
              + gradient
              + ", and must have the elements and the type of its value, "
              + value);
    }
    if (gradient != null && sparse) {
      throw new IllegalArgumentException(
          "The parameter " + name + " has sparse gradients: its gradient must be null");
    }
  }

  /** Creates a parameter with dense gradients, for which the reducer allocates memory. */
  public static Parameter of(String name, Tensor value) {
    return new Parameter(name, value, null, false);
  }
}
