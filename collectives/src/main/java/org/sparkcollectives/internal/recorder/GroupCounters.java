package org.sparkcollectives.internal.recorder;

import java.util.List;
import java.util.concurrent.locks.StampedLock;
import java.util.function.Supplier;
import org.sparkcollectives.Arrival;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.OpType;
import org.sparkcollectives.OperationStatistics;
import org.sparkcollectives.spi.OperationSpec;

/**
 * Counts the operations of a rank in a group. The thread that completes an operation counts it,
 * with the times of its record: it reads no clock and allocates nothing, except for the first
 * operation of a kind, size and algorithm.
 *
 * <p>Collectives complete one after the other, so the lock is contended between messages only.
 * Readers take no lock that an operation would wait for, unless the writers give them no chance.
 */
final class GroupCounters {

  private static final int TRIES = 1_000;

  private final StampedLock lock = new StampedLock();
  private final OperationRows rows = new OperationRows();
  private final ArrivalSamples samples = new ArrivalSamples();
  private long operations;
  private long failures;
  private long bytes;
  private long collectiveNanos;
  private long outsideNanos;

  /** The end of the last operation; meaningless before the first. */
  private long lastEnd;

  private boolean any;

  private final OutsideTime outsideAllGroups;

  private volatile GroupStatistics.Progress progress = GroupStatistics.Progress.NONE;

  /**
   * Creates counters that have counted nothing.
   *
   * @param outsideAllGroups adds up the operations of all groups of the rank
   */
  GroupCounters(OutsideTime outsideAllGroups) {
    this.outsideAllGroups = outsideAllGroups;
  }

  /**
   * Counts an operation that has ended.
   *
   * @param createdNanos when it was called
   * @param startedNanos when it began to run
   */
  void add(
      OperationSpec spec,
      String algorithm,
      long sequenceNumber,
      long createdNanos,
      long startedNanos,
      long endedNanos,
      boolean well) {
    long size = bytes(spec);
    long stamp = lock.writeLock();
    try {
      if (!any) {
        any = true;
        lastEnd = createdNanos;
      }
      outsideNanos += Math.max(0, createdNanos - lastEnd);
      long end = Math.max(lastEnd, endedNanos);
      collectiveNanos += Math.max(0, end - Math.max(createdNanos, lastEnd));
      lastEnd = end;
      long outsideAll = outsideAllGroups.add(createdNanos, endedNanos);
      if (!well) {
        failures++;
        return;
      }
      operations++;
      bytes += size;
      long nanos = Math.max(0, endedNanos - startedNanos);
      int row = rows.add(spec.type(), size, algorithm, nanos);
      if (synchronises(spec.type())) {
        samples.add(sequenceNumber, row, nanos, outsideAll, endedNanos);
      }
    } finally {
      lock.unlockWrite(stamp);
    }
  }

  private static long bytes(OperationSpec spec) {
    return spec.dtype() == null
        ? 0
        : Math.max(spec.inputCount(), spec.outputCount()) * spec.dtype().bytes();
  }

  /** Returns whether no rank leaves the operation before all have come. */
  private static boolean synchronises(OpType type) {
    return switch (type) {
      case ALL_REDUCE,
          ALL_REDUCE_COALESCED,
          ALL_REDUCE_SPARSE,
          ALL_GATHER,
          ALL_GATHER_INTO,
          ALL_GATHER_COALESCED,
          REDUCE_SCATTER,
          REDUCE_SCATTER_INTO,
          REDUCE_SCATTER_COALESCED,
          ALL_TO_ALL,
          ALL_TO_ALL_INTO,
          BARRIER ->
          true;
      default -> false;
    };
  }

  /** The counts at one moment. */
  private record Totals(
      long operations,
      long failures,
      long bytes,
      long collectiveNanos,
      long outsideNanos,
      long interval,
      List<Arrival> arrivals) {}

  private Totals totals() {
    return new Totals(
        operations,
        failures,
        bytes,
        collectiveNanos,
        outsideNanos,
        samples.interval(),
        samples.samples());
  }

  /**
   * Returns the counts.
   *
   * @param pending how many operations are pending
   * @param longestPendingSeconds the age of the oldest
   */
  GroupStatistics statistics(
      String group,
      int rank,
      int size,
      int pending,
      double longestPendingSeconds,
      GroupStatistics.Paths paths) {
    Totals totals = read(this::totals);
    List<OperationStatistics> byOperation = rows.statistics();
    return new GroupStatistics(
        group,
        rank,
        size,
        totals.operations(),
        totals.failures(),
        totals.bytes(),
        totals.collectiveNanos() / 1e9,
        totals.outsideNanos() / 1e9,
        pending,
        longestPendingSeconds,
        paths,
        byOperation,
        totals.interval(),
        totals.arrivals(),
        progress);
  }

  /** Keeps what the program says of its progress. */
  void progress(GroupStatistics.Progress newest) {
    progress = newest;
  }

  private <T> T read(Supplier<T> fields) {
    for (int i = 0; i < TRIES; i++) {
      long stamp = lock.tryOptimisticRead();
      if (stamp != 0) {
        T seen = fields.get();
        if (lock.validate(stamp)) {
          return seen;
        }
      }
      Thread.onSpinWait();
    }
    long stamp = lock.readLock();
    try {
      return fields.get();
    } finally {
      lock.unlockRead(stamp);
    }
  }
}
