package org.sparkcollectives.ddp;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.CallCheck;

/** Makes sure that all ranks have the same model, and gives them the same values. */
public final class ModelState {

  private ModelState() {}

  /**
   * Checks that all ranks have the same parameters: name, type, shape, order, and whether gradients
   * are sparse. The values are not compared. A collective: one all-gather of 16 bytes a rank, and
   * one more if they differ. Blocks until all ranks have called it, for the group's timeout at the
   * most.
   *
   * @throws IllegalArgumentException on all ranks, with the first difference and both values, or if
   *     a rank gives no list
   */
  public static void verify(ProcessGroup group, List<Parameter> parameters) {
    new CallCheck(group, "comparison of models").compare(() -> describe(parameters));
  }

  /** Returns a text for each parameter. */
  static List<String> describe(List<Parameter> parameters) {
    Objects.requireNonNull(parameters, "parameters");
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < parameters.size(); i++) {
      Parameter each = parameters.get(i);
      texts.add(
          "parameter "
              + i
              + ": "
              + (each == null
                  ? "null"
                  : "\""
                      + each.name()
                      + "\", "
                      + each.value()
                      + (each.sparse() ? ", sparse gradients" : ", dense gradients")));
    }
    return texts;
  }

  /**
   * Gives all ranks the values of one rank, as one block of broadcasts. A collective: called by all
   * ranks with tensors of the same types and counts in the same order. Blocks until this rank has
   * the values, for the group's timeout at the most. As c10d's {@code _sync_module_states}.
   *
   * @param tensors the parameters' values, or any other state; overwritten except at the root
   */
  public static void broadcast(ProcessGroup group, List<Tensor> tensors, int root) {
    if (tensors.isEmpty()) {
      return;
    }
    Coalescing block = group.coalesce();
    try (block) {
      tensors.forEach(tensor -> group.broadcast(tensor, root));
    }
    block.work().await();
  }
}
