package org.sparkcollectives.ddp;

import java.util.BitSet;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.sparkcollectives.ProcessGroup;

/** Says why a step could not be finished, in the same words on all ranks. */
final class StepFailure {

  /** How many parameters a message names. */
  private static final int MOST_NAMES = 20;

  private final List<Parameter> parameters;

  StepFailure(List<Parameter> parameters) {
    this.parameters = parameters;
  }

  /** Returns a parameter for messages, such as {@code parameter 2 ("bias")}. */
  String named(int parameter) {
    return "parameter " + parameter + " (\"" + parameters.get(parameter).name() + "\")";
  }

  /** Returns the reason that parameters have not been marked. */
  String unmarked(BitSet missing) {
    String names =
        missing.stream().limit(MOST_NAMES).mapToObj(this::named).collect(Collectors.joining(", "));
    int more = missing.cardinality() - MOST_NAMES;
    return "did not mark " + names + (more > 0 ? " and " + more + " more" : "") + " as ready";
  }

  /**
   * Asks all ranks for their reasons. A collective, called by all once they know that one could not
   * finish.
   *
   * @param own this rank's reason; null if it has none
   */
  IllegalStateException ofAll(ProcessGroup group, long step, String own) {
    List<String> reasons = group.objects().allGather(own == null ? "" : own);
    String text =
        IntStream.range(0, reasons.size())
            .filter(rank -> !reasons.get(rank).isEmpty())
            .mapToObj(rank -> "rank " + rank + " " + reasons.get(rank))
            .collect(Collectors.joining("; "));
    return new IllegalStateException(
        "Step "
            + step
            + " of the reducer of group \""
            + group.name()
            + "\" failed on all ranks, here on rank "
            + group.rank()
            + ": "
            + text
            + ". No gradient was averaged, unless by a communication hook. Mark every parameter once"
            + " in each step, or allow unused ones by ReducerOptions.withFindUnused");
  }
}
