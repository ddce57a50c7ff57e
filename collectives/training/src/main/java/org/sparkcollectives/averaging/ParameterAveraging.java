package org.sparkcollectives.averaging;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.CallCheck;

/**
 * Replaces parameters by their mean over the ranks: c10d's {@code average_parameters}.
 *
 * <p>Parameters of one type are reduced together, in their own type: c10d widens them to the widest
 * type among them. An all-gather of 16 bytes before it compares what the ranks average.
 */
public final class ParameterAveraging {

  private ParameterAveraging() {}

  /**
   * Replaces each parameter by its mean over the ranks of the group, in place, with the same bits
   * on every rank. A collective: called by all ranks, and blocks until it is done, for the group's
   * timeout at the most.
   *
   * @param parameters floating-point or complex ones, of the same types and counts in the same
   *     order on every rank
   * @see #average(ProcessGroup, List, BitSet)
   */
  public static void average(ProcessGroup group, List<Tensor> parameters) {
    BitSet all = new BitSet();
    all.set(0, parameters.size());
    average(group, parameters, all);
  }

  /**
   * Replaces some parameters by their mean over the ranks of the group, in place, with the same
   * bits on every rank. A collective: called by all ranks, and blocks until it is done, for the
   * group's timeout at the most.
   *
   * @param parameters floating-point or complex ones, of the same types and counts in the same
   *     order on every rank
   * @param selected the positions of those to average, such as those with a gradient; the same on
   *     every rank
   * @throws IllegalArgumentException on all ranks, if the parameters or the selection differ, or if
   *     on one of them a parameter is null or cannot be averaged, or a position is not in the list;
   *     no parameter has changed
   */
  public static void average(ProcessGroup group, List<Tensor> parameters, BitSet selected) {
    new CallCheck(group, "averaging of parameters").compare(() -> describe(parameters, selected));
    List<Work> works = new ArrayList<>();
    for (List<Tensor> each : byType(parameters, selected).values()) {
      works.add(group.allReduceCoalesced(each, ReduceOp.AVG));
    }
    works.forEach(Work::await);
  }

  private static List<String> describe(List<Tensor> parameters, BitSet selected) {
    Objects.requireNonNull(parameters, "parameters");
    Objects.requireNonNull(selected, "selected");
    if (selected.length() > parameters.size()) {
      throw new IllegalArgumentException(
          "parameter "
              + (selected.length() - 1)
              + " is selected, and there are "
              + parameters.size());
    }
    List<String> texts = new ArrayList<>(List.of(parameters.size() + " parameters"));
    for (int i = selected.nextSetBit(0); i >= 0; i = selected.nextSetBit(i + 1)) {
      Tensor each = parameters.get(i);
      if (each == null) {
        throw new IllegalArgumentException("parameter " + i + " is null");
      }
      if (!ReduceOp.AVG.supports(each.dtype())) {
        throw new IllegalArgumentException(
            "parameter "
                + i
                + " is "
                + each
                + ", which has no mean; select floating-point and complex parameters");
      }
      texts.add("parameter " + i + ", " + each.dtype().label() + " x " + each.count());
    }
    return texts;
  }

  private static Map<DType, List<Tensor>> byType(List<Tensor> parameters, BitSet selected) {
    Map<DType, List<Tensor>> byType = new EnumMap<>(DType.class);
    selected.stream()
        .mapToObj(parameters::get)
        .forEach(each -> byType.computeIfAbsent(each.dtype(), type -> new ArrayList<>()).add(each));
    return byType;
  }
}
