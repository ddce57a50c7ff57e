package org.sparkcollectives.zero;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.ddp.Parameter;

/** Checks the arguments of a {@link ZeroRedundancyOptimizer}. */
final class ZeroArguments {

  private ZeroArguments() {}

  /** Refuses a group that ranks may leave: each would take its shard of the state along. */
  static void requireLasting(ProcessGroup group) {
    if (group instanceof ReconfigurableGroup) {
      throw new IllegalArgumentException(
          "the ranks of group "
              + group.name()
              + " change, and a rank that leaves takes its shard of the state along; give a group"
              + " whose ranks stay, such as that of one replica");
    }
  }

  /** Returns texts that must be the same on all ranks, and refuses what cannot be. */
  static List<String> describe(
      List<Parameter> parameters, ZeroPartition partition, ZeroOptions options, int ranks) {
    if (parameters.isEmpty()) {
      throw new IllegalArgumentException("there is no parameter; give at least one");
    }
    if (partition.ranks() != ranks || partition.parameters() != parameters.size()) {
      throw new IllegalArgumentException(
          "the partition is of "
              + partition.parameters()
              + " parameters for "
              + partition.ranks()
              + " ranks, and there are "
              + parameters.size()
              + " parameters and "
              + ranks
              + " ranks");
    }
    boolean reduces = options.averagedGradients().isEmpty() && !options.stepsInHook();
    Set<String> names = new HashSet<>();
    List<String> texts = new ArrayList<>();
    for (Parameter each : parameters) {
      require(each, reduces);
      if (!names.add(each.name())) {
        throw new IllegalArgumentException(
            "two parameters have the name " + each.name() + "; give each its own");
      }
      texts.add(
          "parameter "
              + each.name()
              + ", "
              + each.value().dtype().label()
              + Arrays.toString(each.value().shape()));
    }
    texts.add("gradients that are " + averagedBy(options));
    texts.add("the partition " + partition);
    return texts;
  }

  private static String averagedBy(ZeroOptions options) {
    if (options.stepsInHook()) {
      return "averaged by a reducer's hook";
    }
    return options.averagedGradients().isEmpty() ? "averaged by the optimizer" : "averaged already";
  }

  private static void require(Parameter parameter, boolean reduces) {
    if (parameter.sparse()) {
      throw new IllegalArgumentException(
          "parameter "
              + parameter.name()
              + " has sparse gradients; only dense ones can be averaged here");
    }
    if (reduces && !ReduceOp.AVG.supports(parameter.value().dtype())) {
      throw new IllegalArgumentException(
          "parameter "
              + parameter.name()
              + " is "
              + parameter.value()
              + ", whose gradients have no mean; give floating-point or complex parameters");
    }
  }
}
