package org.sparkcollectives.ddp;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.CallCheck;

/** Checks what the ranks give to make a reducer, and whether it is the same on all of them. */
final class ReducerArguments {

  private ReducerArguments() {}

  /**
   * Refuses what differs between ranks, and what no reducer can work with.
   *
   * @throws IllegalArgumentException on all ranks
   */
  static void verify(ProcessGroup group, List<Parameter> parameters, ReducerOptions options) {
    new CallCheck(group, "making of a reducer").compare(() -> describe(parameters, options));
  }

  private static List<String> describe(List<Parameter> parameters, ReducerOptions options) {
    Objects.requireNonNull(parameters, "parameters");
    Objects.requireNonNull(options, "options");
    require(!parameters.isEmpty(), "there are no parameters; give at least one");
    for (Parameter each : parameters) {
      require(each != null, "a parameter is null");
      require(
          ReduceOp.AVG.supports(each.value().dtype()),
          "the parameter \""
              + each.name()
              + "\" is "
              + each.value()
              + ", and gradients are of a floating-point or complex type");
      require(
          !each.sparse() || each.value().shape().length > 0,
          "the parameter \"" + each.name() + "\" has sparse gradients, but no dimensions");
    }
    int[] order = options.readyOrder();
    if (order.length > 0) {
      BucketAssignment.requireOrder(order, parameters.size());
    }
    List<String> texts = new ArrayList<>(ModelState.describe(parameters));
    texts.add("options: " + options);
    return texts;
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalArgumentException(what);
    }
  }
}
