package org.sparkcollectives.recorder;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** One group's part in the records of a rank. Thread-safe. */
public final class GroupRecords {

  private final RecordRing ring;
  private final String name;
  private final String description;
  private final List<Integer> ranks;

  // They tell how far the collectives have come when the ring has forgotten them.
  private final AtomicLong lastEnqueued = new AtomicLong(-1);
  private final AtomicLong lastStarted = new AtomicLong(-1);
  private final AtomicLong lastCompleted = new AtomicLong(-1);

  GroupRecords(RecordRing ring, String name, String description, List<Integer> ranks) {
    this.ring = ring;
    this.name = name;
    this.description = description;
    this.ranks = List.copyOf(ranks);
  }

  /** Where the records of all groups of the rank are. */
  public RecordRing ring() {
    return ring;
  }

  String name() {
    return name;
  }

  /**
   * Records that an operation was called, on the thread that calls it.
   *
   * @param createdNanos when, by {@link System#nanoTime}
   */
  public RecordRing.Entry record(
      RecordedOperation operation, long sequenceNumber, long timeoutMillis, long createdNanos) {
    if (!operation.type().isPointToPoint()) {
      lastEnqueued.lazySet(sequenceNumber);
    }
    return ring.add(this, operation, sequenceNumber, timeoutMillis, createdNanos);
  }

  void started(long sequenceNumber) {
    lastStarted.lazySet(sequenceNumber);
  }

  void completed(long sequenceNumber) {
    lastCompleted.lazySet(sequenceNumber);
  }

  /** A copy of the records of this group that are still there, oldest first. */
  public List<FlightRecord> records() {
    return ring.records(this);
  }

  /** How far the collectives of this group have come. */
  public GroupStatus status() {
    return new GroupStatus(
        name, description, ranks, lastEnqueued.get(), lastStarted.get(), lastCompleted.get());
  }

  /** The group is closed; its records stay until newer ones take their place. */
  public void close() {
    ring.forget(this);
  }
}
