package org.sparkcollectives.store;

import java.util.HashMap;
import java.util.Map;

/**
 * The state that the entries of a file produce, as far as they have been read: the table, and how
 * many handles are open. Entries that this process writes are carried out in the same way as those
 * it reads, so all processes have the same state. Only the table is thread-safe.
 */
final class FileContents {

  private final StoreTable table = new StoreTable();
  private final Map<Arrival, PendingReply> barriers = new HashMap<>();
  private long openHandles;
  private long closedHandles;
  private boolean removed;

  /** A call of {@code client} that waits at a barrier. */
  private record Arrival(long client, long id) {}

  StoreTable table() {
    return table;
  }

  boolean isRemoved() {
    return removed;
  }

  /** Returns whether one handle is open, and is the last of {@code worldSize} to be closed. */
  boolean isLastHandle(int worldSize) {
    return openHandles == 1 && closedHandles + 1 >= worldSize;
  }

  /** Carries out what another process has written. */
  void replay(FileEntry entry) {
    try {
      carryOut(entry);
    } catch (StoreException | IllegalArgumentException e) {
      // The process that wrote it has told its caller already.
    }
  }

  /** Carries out an entry. Throws if the table refuses it. */
  PendingReply carryOut(FileEntry entry) {
    switch (entry.kind()) {
      case REQUEST -> {
        return carryOutRequest(entry);
      }
      case OPENED -> openHandles++;
      case CLOSED -> {
        openHandles--;
        closedHandles++;
      }
      case REMOVED -> {
        openHandles--;
        closedHandles++;
        removed = true;
      }
    }
    return TableOperations.done(StoreReply.DONE);
  }

  private PendingReply carryOutRequest(FileEntry entry) {
    StoreCodec.IdentifiedRequest decoded = entry.decodeRequest();
    StoreRequest request = decoded.request();
    if (request.operation() == StoreOperation.EXPIRE) {
      PendingReply arrival = barriers.get(new Arrival(entry.client(), request.number()));
      if (arrival != null) {
        arrival.expire(request.timeout());
      }
      return TableOperations.done(StoreReply.DONE);
    }
    if (request.values().stream().anyMatch(value -> value.reference().isPresent())) {
      throw new StoreException("the file has a reference to a value, which it should not");
    }
    PendingReply pending = TableOperations.start(table, request);
    if (request.operation() == StoreOperation.BARRIER && !pending.isDone()) {
      Arrival arrival = new Arrival(entry.client(), decoded.id());
      barriers.put(arrival, pending);
      pending.whenComplete((reply, failure) -> barriers.remove(arrival));
    }
    return pending;
  }
}
