package org.sparkcollectives.store;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Counts the calls of a store's handle. Thread-safe; a call of a store takes far longer. */
final class StoreCounters {

  private static final class Sum {
    private long count;
    private long failures;
    private long nanos;
    private long longest;
  }

  private final Map<String, Sum> byMethod = new LinkedHashMap<>();

  /** Counts a call that has ended. */
  synchronized void add(StoreOperation operation, long nanos, boolean well) {
    Sum sum = byMethod.computeIfAbsent(operation.method(), method -> new Sum());
    sum.count++;
    sum.failures += well ? 0 : 1;
    sum.nanos += nanos;
    sum.longest = Math.max(sum.longest, nanos);
  }

  synchronized StoreStatistics statistics() {
    List<StoreStatistics.Calls> calls = new ArrayList<>();
    byMethod.forEach(
        (method, sum) ->
            calls.add(
                new StoreStatistics.Calls(
                    method, sum.count, sum.failures, sum.nanos / 1e9, sum.longest / 1e9)));
    return new StoreStatistics(calls);
  }
}
