package org.sparkcollectives.spark.internal.driver;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.OpType;
import org.sparkcollectives.OperationStatistics;
import org.sparkcollectives.spark.event.ComparedOperation;
import org.sparkcollectives.spark.event.GroupSums;

/**
 * Sums up how long the ranks of a group waited for the one that came last, by kind, size and
 * algorithm of the operations, and keeps the newest of these. For one thread.
 */
final class OperationWaits {

  private final Map<Key, Sum> sums = new HashMap<>();
  private final Deque<ComparedOperation> newest = new ArrayDeque<>();

  /** The operations that one row counts: of one kind, size and algorithm. */
  record Key(OpType operation, int sizeClass, String algorithm) {

    static Key of(OperationStatistics row) {
      return new Key(row.operation(), row.sizeClass(), row.algorithm());
    }
  }

  private static final class Sum {
    private long compared;
    private double waitedSeconds;
  }

  /** Adds an operation that belongs to a row. */
  void add(ArrivalComparison.Compared operation, OperationStatistics row) {
    Sum sum = sums.computeIfAbsent(Key.of(row), key -> new Sum());
    sum.compared++;
    sum.waitedSeconds += operation.waitedSeconds();
    newest.addLast(
        new ComparedOperation(
            operation.sequence(),
            row.operation().name(),
            SnapshotSums.rounded(operation.seconds()),
            SnapshotSums.rounded(operation.waitedSeconds()),
            operation.last()));
    if (newest.size() > GroupSums.MOST_NEWEST) {
      newest.removeFirst();
    }
  }

  /** Returns a row of operations with what is known of its waits. */
  OperationSnapshot snapshot(OperationStatistics row) {
    Sum sum = sums.get(Key.of(row));
    return sum == null
        ? new OperationSnapshot(row, 0, 0)
        : new OperationSnapshot(row, sum.compared, sum.waitedSeconds / sum.compared);
  }

  /** Returns the newest operations, oldest first. */
  List<ComparedOperation> newest() {
    return List.copyOf(newest);
  }
}
