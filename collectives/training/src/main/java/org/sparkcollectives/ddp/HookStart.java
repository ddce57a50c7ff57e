package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.CallCheck;

/** Has the ranks agree before a hook reduces the first bucket of a group. */
final class HookStart {

  private HookStart() {}

  /**
   * Compares the settings of a hook over the ranks, and what it has counted. In a group that a
   * failed one has left behind, ranks may have come further than others: there it takes the largest
   * counts. A collective: blocks for the group's timeout at most in each of its steps.
   *
   * @param hook what messages call it
   * @param settings returns texts that must be the same on all ranks; throws if the hook cannot
   *     work
   * @param isNew whether this rank has used the hook in no group before
   * @param counts by their names, in the same order everywhere
   * @return the counts with which all ranks go on
   * @throws IllegalArgumentException on all ranks, if settings differ, or counts in the first group
   */
  static long[] agree(
      ProcessGroup group,
      String hook,
      Supplier<List<String>> settings,
      boolean isNew,
      Map<String, Long> counts) {
    CallCheck check = new CallCheck(group, "first step of " + hook);
    check.compare(settings);
    long[] largest =
        LongStream.concat(
                LongStream.of(isNew ? 0 : 1), counts.values().stream().mapToLong(Long::longValue))
            .toArray();
    group.allReduce(Tensor.of(largest), ReduceOp.MAX).await();
    if (largest[0] == 0) {
      check.compare(
          () ->
              counts.entrySet().stream()
                  .map(each -> "the " + each.getKey() + " " + each.getValue())
                  .toList());
    }
    return Arrays.copyOfRange(largest, 1, largest.length);
  }
}
