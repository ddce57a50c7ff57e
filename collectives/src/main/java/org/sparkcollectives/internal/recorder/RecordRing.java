package org.sparkcollectives.internal.recorder;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.sparkcollectives.DType;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.spi.OperationSpec;

/**
 * The flight recorder of a rank: keeps the last {@code capacity} operations of all its groups and
 * overwrites the oldest.
 *
 * <p>Recording takes one fetch-and-add and no lock. An entry is changed by one thread at a time,
 * and a reader may see a state that is slightly old.
 */
public final class RecordRing {

  /**
   * The offset of the monotonic clock from the epoch, taken once, so that the times of one JVM's
   * records never run backwards.
   */
  private static final long EPOCH_OFFSET_NANOS =
      TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - System.nanoTime();

  /** Whether this Java has Java Flight Recorder, without which its events cannot be loaded. */
  static final boolean HAS_JFR = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

  private final AtomicReferenceArray<Entry> ring;
  private final AtomicLong next = new AtomicLong();

  /** The first record that has not been forgotten. */
  private final AtomicLong first = new AtomicLong();

  private final Set<GroupRecords> open = ConcurrentHashMap.newKeySet();
  private final OutsideTime outsideAllGroups = new OutsideTime();

  /** Creates a recorder for {@code capacity} operations; 0 keeps none. */
  public RecordRing(int capacity) {
    this.ring = new AtomicReferenceArray<>(capacity);
  }

  /**
   * Begins to record the operations of a group.
   *
   * @param ranks the rank in the world of each rank of the group
   * @param rank this one, in the group
   */
  public GroupRecords join(String group, String description, List<Integer> ranks, int rank) {
    GroupRecords records = new GroupRecords(this, group, description, ranks, rank);
    open.add(records);
    records.opened();
    return records;
  }

  /** Returns the time that the rank has been outside of the operations of all its groups. */
  OutsideTime outsideAllGroups() {
    return outsideAllGroups;
  }

  void forget(GroupRecords group) {
    open.remove(group);
  }

  Entry add(
      GroupRecords group,
      OperationSpec spec,
      long sequenceNumber,
      long timeoutMillis,
      long createdNanos) {
    long id = next.getAndIncrement();
    Entry entry =
        new Entry(id, group, spec.forRecord(), sequenceNumber, timeoutMillis, createdNanos);
    if (ring.length() > 0) {
      ring.setRelease((int) (id % ring.length()), entry);
    }
    return entry;
  }

  /** Forgets the records of all operations that were called before. */
  public void reset() {
    long end = next.get();
    first.accumulateAndGet(end, Math::max);
    for (int slot = 0; slot < ring.length(); slot++) {
      Entry entry = ring.getAcquire(slot);
      if (entry != null && entry.id < end) {
        ring.compareAndSet(slot, entry, null);
      }
    }
  }

  /** Returns a copy of the records of all groups that have not been overwritten, oldest first. */
  public List<FlightRecord> records() {
    return records(null);
  }

  /** Returns the records of one group; null is all groups. */
  List<FlightRecord> records(GroupRecords group) {
    return entries().stream()
        .filter(entry -> group == null || entry.group == group)
        .map(Entry::snapshot)
        .toList();
  }

  /** Returns the groups that are open and those of which there are records. */
  public List<GroupStatus> groups() {
    Set<GroupRecords> groups = new LinkedHashSet<>();
    entries().forEach(entry -> groups.add(entry.group));
    groups.addAll(open);
    return groups.stream().map(GroupRecords::status).toList();
  }

  private List<Entry> entries() {
    List<Entry> entries = new ArrayList<>();
    long end = next.get();
    for (long id = Math.max(first.get(), end - ring.length()); id < end; id++) {
      Entry entry = ring.getAcquire((int) (id % ring.length()));
      // The slot may still hold the previous entry, or already the next one.
      if (entry != null && entry.id == id) {
        entries.add(entry);
      }
    }
    return entries;
  }

  /** Returns the current time as records have it: nanoseconds since the epoch. */
  public static long nowNanos() {
    return epoch(System.nanoTime());
  }

  private static long epoch(long nanos) {
    return nanos == 0 ? 0 : nanos + EPOCH_OFFSET_NANOS;
  }

  /** The record of an operation that may still be running. */
  public static final class Entry {
    // A field updater would load the types of all fields, and so fail in a Java without JFR.
    private static final VarHandle STATE = stateHandle();

    private final long id;
    private final GroupRecords group;
    private final OperationSpec spec;
    private final long sequenceNumber;
    private final long timeoutMillis;
    private final long createdNanos;
    private final String thread;
    private final String label;

    /** Null unless Java Flight Recorder records this operation. */
    private final OperationEvent event;

    // These are written in this order, each before the state that publishes it with a release
    // store. A fence for each would cost half as much as a whole record.
    private int peer = FlightRecord.NO_PEER;
    private String algorithm = "";
    private String inputHash = "";
    private String outputHash = "";
    private long startedNanos;
    private long completedNanos;
    private volatile FlightRecord.State state;

    private Entry(
        long id,
        GroupRecords group,
        OperationSpec spec,
        long sequenceNumber,
        long timeoutMillis,
        long createdNanos) {
      this.id = id;
      this.group = group;
      this.spec = spec;
      this.sequenceNumber = sequenceNumber;
      this.timeoutMillis = timeoutMillis;
      this.createdNanos = createdNanos;
      this.thread = Thread.currentThread().getName();
      this.label = group.labels().current();
      this.event = HAS_JFR ? OperationEvent.begun() : null;
      STATE.setRelease(this, FlightRecord.State.SCHEDULED);
    }

    private static VarHandle stateHandle() {
      try {
        return MethodHandles.lookup().findVarHandle(Entry.class, "state", FlightRecord.State.class);
      } catch (ReflectiveOperationException e) {
        throw new LinkageError("RecordRing.Entry has no field named state", e);
      }
    }

    /** Records the other rank of a message. */
    public void with(int groupRank) {
      peer = groupRank;
    }

    /** Records how the operation is carried out: the algorithm, or the backend that does it. */
    public void by(String name) {
      algorithm = name;
    }

    /** Records the hash of what the rank gave. */
    public void gave(String hash) {
      inputHash = hash;
    }

    /** Records the hash of what the operation wrote. */
    public void wrote(String hash) {
      outputHash = hash;
    }

    /** Records that the operation began to run. */
    public void started() {
      startedNanos = System.nanoTime();
      STATE.setRelease(this, FlightRecord.State.STARTED);
      if (!spec.type().isPointToPoint()) {
        group.started(sequenceNumber);
      }
    }

    /** Records that the operation is done, and counts it. */
    public void completed(boolean well) {
      completedNanos = System.nanoTime();
      group
          .counters()
          .add(
              spec,
              algorithm,
              sequenceNumber,
              createdNanos,
              startedNanos == 0 ? createdNanos : startedNanos,
              completedNanos,
              well);
      if (event != null) {
        show(well);
      }
      STATE.setRelease(this, well ? FlightRecord.State.COMPLETED : FlightRecord.State.FAILED);
      if (well && !spec.type().isPointToPoint()) {
        group.completed(sequenceNumber);
      }
    }

    private void show(boolean well) {
      event.end();
      if (event.shouldCommit()) {
        event.describe(spec);
        event.group = group.name();
        event.rank = group.rank();
        event.sequenceNumber = sequenceNumber;
        event.peer = peer;
        event.algorithm = algorithm;
        event.label = label;
        event.caller = thread;
        event.queued = startedNanos == 0 ? 0 : startedNanos - createdNanos;
        event.succeeded = well;
        event.commit();
      }
    }

    /** Returns the nanoseconds from start, or from the call if it never started, to the end. */
    public long durationNanos() {
      return completedNanos - (startedNanos == 0 ? createdNanos : startedNanos);
    }

    /** Returns a record of the current state. */
    public FlightRecord snapshot() {
      // The state is read first, so that the times that belong to it are seen; later times are
      // ignored.
      FlightRecord.State reached = state;
      boolean ended =
          reached == FlightRecord.State.COMPLETED || reached == FlightRecord.State.FAILED;
      DType dtype = spec.dtype();
      return new FlightRecord(
          id,
          group.name(),
          spec.type(),
          sequenceNumber,
          dtype == null ? "" : dtype.label(),
          spec.inputShapes(),
          spec.outputShapes(),
          spec.agreedCount(),
          spec.details(),
          peer,
          reached,
          thread,
          epoch(createdNanos),
          reached == FlightRecord.State.SCHEDULED ? 0 : epoch(startedNanos),
          ended ? epoch(completedNanos) : 0,
          timeoutMillis,
          label.isEmpty() && inputHash.isEmpty() && outputHash.isEmpty()
              ? FlightRecord.Notes.NONE
              : new FlightRecord.Notes(label, inputHash, ended ? outputHash : ""));
    }
  }
}
