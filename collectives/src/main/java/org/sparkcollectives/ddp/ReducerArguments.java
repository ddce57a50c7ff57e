package org.sparkcollectives.ddp;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;

/** Checks what the ranks give to make a reducer, first whether it is the same on all of them. */
final class ReducerArguments {

  private ReducerArguments() {}

  /**
   * Refuses what differs between ranks, and what no reducer can work with.
   *
   * @throws IllegalArgumentException on all ranks
   */
  static void verify(ProcessGroup group, List<Parameter> parameters, ReducerOptions options) {
    List<String> lines = new ArrayList<>(ModelState.describe(parameters));
    lines.add("options: " + options);
    ModelState.verifyLines(group, lines);
    // From here on all ranks come to the same result.
    require(!parameters.isEmpty(), group, "there are no parameters");
    for (Parameter each : parameters) {
      require(each != null, group, "a parameter is null");
      require(
          ReduceOp.AVG.supports(each.value().dtype()),
          group,
          "the parameter \""
              + each.name()
              + "\" is "
              + each.value()
              + ", and gradients are of a floating-point or complex type");
      require(
          !each.sparse() || each.value().shape().length > 0,
          group,
          "the parameter \"" + each.name() + "\" has sparse gradients, but no dimensions");
    }
    int[] order = options.readyOrder();
    if (order.length > 0) {
      BucketAssignment.requireOrder(order, parameters.size());
    }
  }

  private static void require(boolean holds, ProcessGroup group, String what) {
    if (!holds) {
      throw new IllegalArgumentException(
          "No reducer can be made on rank "
              + group.rank()
              + " of group \""
              + group.name()
              + "\": "
              + what);
    }
  }
}
