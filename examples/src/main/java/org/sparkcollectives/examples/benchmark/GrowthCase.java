package org.sparkcollectives.examples.benchmark;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;

/**
 * An operation whose costs are measured on more and more ranks.
 *
 * @param label its name in the tables
 * @param bytes the size of the larger of a rank's tensors; of all-to-all with {@code each}, of the
 *     part for each rank
 * @param each whether the size grows with the number of ranks
 */
record GrowthCase(String label, Operation operation, long bytes, boolean each) {

  /** All that are measured, in the order of the tables. */
  static final List<GrowthCase> ALL =
      List.of(
          new GrowthCase("barrier", Operation.BARRIER, 0, false),
          new GrowthCase("all-reduce 4 B", Operation.ALL_REDUCE, 4, false),
          new GrowthCase("all-reduce 1 MiB", Operation.ALL_REDUCE, 1 << 20, false),
          new GrowthCase("broadcast 1 MiB", Operation.BROADCAST, 1 << 20, false),
          new GrowthCase("all-gather 1 MiB", Operation.ALL_GATHER, 1 << 20, false),
          new GrowthCase("all-to-all 4 B each", Operation.ALL_TO_ALL, 4, true),
          new GrowthCase("all-to-all 1 MiB", Operation.ALL_TO_ALL, 1 << 20, false));

  /** The rows of making a group and of closing it. */
  static final String CREATION = "creation";

  static final String CLOSE = "close";

  /** Returns how to measure the operation for {@code time}. */
  Plan plan(Duration time) {
    return new Plan(
        operation,
        DType.FLOAT32,
        ReduceOp.Kind.SUM,
        0,
        MemoryKind.HEAP,
        bytes,
        bytes,
        2,
        0,
        time,
        -1,
        true,
        Duration.ZERO,
        Duration.ZERO,
        false);
  }

  /** Returns the count that the operation is called with on so many ranks. */
  long count(int ranks) {
    long elements = bytes / DType.FLOAT32.bytes();
    return operation.count(each ? elements * ranks : elements, ranks);
  }
}
