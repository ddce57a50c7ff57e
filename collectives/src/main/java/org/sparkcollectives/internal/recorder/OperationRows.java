package org.sparkcollectives.internal.recorder;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.OpType;
import org.sparkcollectives.OperationStatistics;

/**
 * Sums up operations in rows, by kind, size and algorithm. The last row takes what no other is left
 * for. One thread at a time adds; a reader may miss the newest.
 */
final class OperationRows {

  private static final int NO_SIZE = -1;

  /** By the ordinal of the kind, and the size class plus 1, the first row in a chain. */
  private final Row[][] byKind = new Row[OpType.values().length][];

  private final Row[] all = new Row[GroupStatistics.MOST_ROWS];

  /** How many rows there are; written after the row. */
  private volatile int count;

  private static final class Row {
    private final int index;
    private final OpType operation;
    private final int sizeClass;
    private final String algorithm;
    private final DurationHistogram durations = new DurationHistogram();
    private long operations;
    private long bytes;
    private long nanos;

    /** The next row of the same kind and size, or null. */
    private Row next;

    private Row(int index, OpType operation, int sizeClass, String algorithm) {
      this.index = index;
      this.operation = operation;
      this.sizeClass = sizeClass;
      this.algorithm = algorithm;
    }

    private OperationStatistics statistics() {
      return new OperationStatistics(
          operation,
          sizeClass,
          algorithm,
          operations,
          bytes,
          nanos / 1e9,
          durations.seconds(0.5),
          durations.seconds(0.99));
    }
  }

  /** Counts an operation, and returns the number of its row among {@link #statistics}. */
  int add(OpType operation, long bytes, String algorithm, long nanos) {
    Row row = row(operation, sizeClass(bytes), algorithm);
    row.operations++;
    row.bytes += bytes;
    row.nanos += nanos;
    row.durations.add(nanos);
    return row.index;
  }

  private static int sizeClass(long bytes) {
    return bytes <= 0 ? NO_SIZE : Long.SIZE - 1 - Long.numberOfLeadingZeros(bytes);
  }

  private Row row(OpType operation, int sizeClass, String algorithm) {
    Row[] bySize = byKind[operation.ordinal()];
    if (bySize != null) {
      for (Row row = bySize[sizeClass + 1]; row != null; row = row.next) {
        // It is almost always the same object.
        if (row.algorithm.equals(algorithm)) {
          return row;
        }
      }
    }
    return newRow(operation, sizeClass, algorithm);
  }

  private Row newRow(OpType operation, int sizeClass, String algorithm) {
    int known = count;
    if (known == all.length) {
      return all[known - 1];
    }
    if (known == all.length - 1) {
      return add(known, new Row(known, OpType.UNKNOWN, NO_SIZE, ""));
    }
    if (byKind[operation.ordinal()] == null) {
      byKind[operation.ordinal()] = new Row[Long.SIZE + 1];
    }
    Row[] bySize = byKind[operation.ordinal()];
    Row row = new Row(known, operation, sizeClass, algorithm);
    row.next = bySize[sizeClass + 1];
    bySize[sizeClass + 1] = row;
    return add(known, row);
  }

  private Row add(int known, Row row) {
    all[known] = row;
    count = known + 1;
    return row;
  }

  List<OperationStatistics> statistics() {
    int known = count;
    List<OperationStatistics> rows = new ArrayList<>(known);
    for (int i = 0; i < known; i++) {
      rows.add(all[i].statistics());
    }
    return rows;
  }
}
