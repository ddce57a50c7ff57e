package org.sparkcollectives.internal.recorder;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import org.sparkcollectives.OpType;
import org.sparkcollectives.WaitStatistics;

/** Counts how long threads wait for operations, by kind. Thread-safe, without locks. */
final class WaitCounters {

  private static final OpType[] KINDS = OpType.values();

  private final AtomicLongArray counts = new AtomicLongArray(KINDS.length);
  private final AtomicLongArray nanos = new AtomicLongArray(KINDS.length);
  private final AtomicLongArray longest = new AtomicLongArray(KINDS.length);

  /** Counts a wait that has ended. */
  void add(OpType kind, long waited) {
    int index = kind.ordinal();
    nanos.addAndGet(index, waited);
    longest.accumulateAndGet(index, waited, Math::max);
    // This is the last, so that a reader who sees the wait sees its time.
    counts.incrementAndGet(index);
  }

  /** Returns the sums of the kinds that were waited for. */
  List<WaitStatistics> statistics() {
    List<WaitStatistics> all = new ArrayList<>();
    for (OpType kind : KINDS) {
      long count = counts.get(kind.ordinal());
      if (count > 0) {
        all.add(
            new WaitStatistics(
                kind, count, nanos.get(kind.ordinal()) / 1e9, longest.get(kind.ordinal()) / 1e9));
      }
    }
    return all;
  }
}
