package org.sparkcollectives.recorder;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.sparkcollectives.OpType;

/**
 * A flight recorder that keeps the last {@code capacity} operations and forgets the oldest.
 *
 * <p>Recording takes one fetch-and-add and no lock; an entry is changed by one thread at a time,
 * and a reader may see a state that is a moment old.
 */
public final class RecordRing implements FlightRecorder {

  /** Ties the monotonic clock to the epoch once, so that records of one JVM never run backwards. */
  private static final long EPOCH_OFFSET_NANOS =
      TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - System.nanoTime();

  private final String group;
  private final AtomicReferenceArray<Entry> ring;
  private final AtomicLong next = new AtomicLong();

  /** With the number of operations to keep; 0 keeps none. */
  public RecordRing(String group, int capacity) {
    this.group = group;
    this.ring = new AtomicReferenceArray<>(capacity);
  }

  /**
   * Records that an operation was called.
   *
   * @param detail asked for when somebody reads the record
   * @param createdNanos when, by {@link System#nanoTime}
   */
  public Entry record(
      OpType opType,
      long sequenceNumber,
      String dtype,
      long inputCount,
      long outputCount,
      Supplier<String> detail,
      long timeoutMillis,
      long createdNanos) {
    long id = next.getAndIncrement();
    Entry entry =
        new Entry(
            id,
            opType,
            sequenceNumber,
            dtype,
            inputCount,
            outputCount,
            detail,
            timeoutMillis,
            createdNanos);
    if (ring.length() > 0) {
      ring.setRelease((int) (id % ring.length()), entry);
    }
    return entry;
  }

  @Override
  public List<FlightRecord> records() {
    List<FlightRecord> records = new ArrayList<>();
    long end = next.get();
    for (long id = Math.max(0, end - ring.length()); id < end; id++) {
      Entry entry = ring.getAcquire((int) (id % ring.length()));
      // A slot may still hold the entry before, or already the one after.
      if (entry != null && entry.id == id) {
        records.add(entry.snapshot(group));
      }
    }
    return records;
  }

  /** One operation, while it goes on. */
  public static final class Entry {
    private final long id;
    private final OpType opType;
    private final long sequenceNumber;
    private final String dtype;
    private final long inputCount;
    private final long outputCount;
    private final Supplier<String> detail;
    private final long timeoutMillis;
    private final long createdNanos;
    private volatile long startedNanos;
    private volatile long completedNanos;
    private volatile FlightRecord.State state = FlightRecord.State.SCHEDULED;

    private Entry(
        long id,
        OpType opType,
        long sequenceNumber,
        String dtype,
        long inputCount,
        long outputCount,
        Supplier<String> detail,
        long timeoutMillis,
        long createdNanos) {
      this.id = id;
      this.opType = opType;
      this.sequenceNumber = sequenceNumber;
      this.dtype = dtype;
      this.inputCount = inputCount;
      this.outputCount = outputCount;
      this.detail = detail;
      this.timeoutMillis = timeoutMillis;
      this.createdNanos = createdNanos;
    }

    /** Records that the operation began to run. */
    public void started() {
      startedNanos = System.nanoTime();
      state = FlightRecord.State.STARTED;
    }

    /** Records that the operation is done. */
    public void completed(boolean well) {
      completedNanos = System.nanoTime();
      state = well ? FlightRecord.State.COMPLETED : FlightRecord.State.FAILED;
    }

    /** Nanoseconds from start, or from the call if it never started, to the end. */
    public long durationNanos() {
      return completedNanos - (startedNanos == 0 ? createdNanos : startedNanos);
    }

    private FlightRecord snapshot(String group) {
      return new FlightRecord(
          id,
          group,
          opType,
          sequenceNumber,
          dtype,
          inputCount,
          outputCount,
          detail.get(),
          state,
          epoch(createdNanos),
          epoch(startedNanos),
          epoch(completedNanos),
          timeoutMillis);
    }

    private static long epoch(long nanos) {
      return nanos == 0 ? 0 : nanos + EPOCH_OFFSET_NANOS;
    }
  }
}
