package org.sparkcollectives.internal.recorder;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.CommLabel;
import org.sparkcollectives.Failure;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.OpType;
import org.sparkcollectives.WaitStatistics;
import org.sparkcollectives.spi.OperationSpec;

/** One group's part in the records of a rank. Thread-safe. */
public final class GroupRecords {

  private final RecordRing ring;
  private final String name;
  private final String description;
  private final List<Integer> ranks;
  private final int rank;

  // They say how far the collectives have come even when the ring has overwritten their records.
  private final AtomicLong lastEnqueued = new AtomicLong(-1);
  private final AtomicLong lastStarted = new AtomicLong(-1);
  private final AtomicLong lastCompleted = new AtomicLong(-1);

  private final GroupCounters counters;
  private final WaitCounters waits = new WaitCounters();
  private final CommLabels labels = new CommLabels();

  GroupRecords(RecordRing ring, String name, String description, List<Integer> ranks, int rank) {
    this.ring = ring;
    this.counters = new GroupCounters(ring.outsideAllGroups());
    this.name = name;
    this.description = description;
    this.ranks = List.copyOf(ranks);
    this.rank = rank;
  }

  /** Tells Java Flight Recorder that the group was joined, if it records. */
  void opened() {
    if (!RecordRing.HAS_JFR) {
      return;
    }
    GroupOpenedEvent event = new GroupOpenedEvent();
    if (event.isEnabled()) {
      event.group = name;
      event.description = description;
      event.rank = rank;
      event.size = ranks.size();
      event.commit();
    }
  }

  /** Returns the ring with the records of all groups of the rank. */
  public RecordRing ring() {
    return ring;
  }

  String name() {
    return name;
  }

  int rank() {
    return rank;
  }

  /**
   * Records that an operation was called, on the thread that calls it.
   *
   * @param createdNanos when, by {@link System#nanoTime}
   */
  public RecordRing.Entry record(
      OperationSpec spec, long sequenceNumber, long timeoutMillis, long createdNanos) {
    if (!spec.type().isPointToPoint()) {
      lastEnqueued.lazySet(sequenceNumber);
    }
    return ring.add(this, spec, sequenceNumber, timeoutMillis, createdNanos);
  }

  void started(long sequenceNumber) {
    lastStarted.lazySet(sequenceNumber);
  }

  /** Returns what sums up the operations of this group. */
  GroupCounters counters() {
    return counters;
  }

  /**
   * Sums up the operations of this group, whether or not their records have been overwritten.
   *
   * @param pending how many operations are pending
   * @param longestPendingSeconds the age of the oldest of them
   * @param paths to the other ranks
   */
  public GroupStatistics statistics(
      int pending, double longestPendingSeconds, GroupStatistics.Paths paths) {
    return counters.statistics(name, rank, ranks.size(), pending, longestPendingSeconds, paths);
  }

  /** Begins a label for the operations that the calling thread calls. */
  public CommLabel label(String name) {
    return labels.begin(name);
  }

  CommLabels labels() {
    return labels;
  }

  /** Counts the wait of a thread for an operation. */
  public void waited(OpType kind, long nanos) {
    waits.add(kind, nanos);
  }

  /** Sums up the waits for operations of this group. */
  public List<WaitStatistics> waits() {
    return waits.statistics();
  }

  /** Keeps what the program says of its progress, for the statistics. */
  public void progress(GroupStatistics.Progress newest) {
    counters.progress(newest);
  }

  void completed(long sequenceNumber) {
    lastCompleted.lazySet(sequenceNumber);
  }

  /** Returns a copy of the records of this group that have not been overwritten, oldest first. */
  public List<FlightRecord> records() {
    return ring.records(this);
  }

  /** Returns how far the collectives of this group have come. */
  public GroupStatus status() {
    return new GroupStatus(
        name, description, ranks, lastEnqueued.get(), lastStarted.get(), lastCompleted.get());
  }

  /** Tells Java Flight Recorder that the group has failed, if it records. */
  public void failed(Failure failure) {
    if (!RecordRing.HAS_JFR) {
      return;
    }
    GroupFailedEvent event = new GroupFailedEvent();
    if (event.isEnabled()) {
      event.group = name;
      event.rank = rank;
      event.describe(failure);
      event.commit();
    }
  }

  /** Records that the group is closed; its records stay until newer ones overwrite them. */
  public void close() {
    ring.forget(this);
    if (!RecordRing.HAS_JFR) {
      return;
    }
    GroupClosedEvent event = new GroupClosedEvent();
    if (event.isEnabled()) {
      GroupStatistics sums = statistics(0, 0, GroupStatistics.Paths.NONE);
      event.group = name;
      event.rank = rank;
      event.operations = sums.operations();
      event.failures = sums.failures();
      event.bytes = sums.bytes();
      event.commit();
    }
  }
}
