package org.sparkcollectives.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Carries out requests on a table. */
final class TableOperations {

  private TableOperations() {}

  /**
   * Starts {@code request}, whose values the table then owns, even if it throws. Does not block
   * unless the request {@link #isSlow}. Throws what fails at once.
   */
  static PendingReply start(StoreTable table, StoreRequest request) {
    ValueUpdates updates = new ValueUpdates(table, table.values());
    return switch (request.operation()) {
      case COMPARE_SET, APPEND -> update(table, request, updates);
      default -> startAtOnce(table, request);
    };
  }

  /** Carries out a request that {@link #isSlow}, whose values the table then owns. Blocks. */
  static PendingReply startSlow(StoreTable table, StoreRequest request, ValueUpdates.Guard guard) {
    return update(table, request, new ValueUpdates(table, table.values(), guard));
  }

  private static PendingReply update(StoreTable table, StoreRequest request, ValueUpdates updates) {
    if (request.operation() == StoreOperation.COMPARE_SET) {
      return done(compareSet(table, request, updates));
    }
    updates.append(request.key(), request.values().get(0));
    return done(StoreReply.DONE);
  }

  /** Returns whether the request must read or make values that are not in memory. */
  static boolean isSlow(StoreTable table, StoreRequest request) {
    if (request.operation() != StoreOperation.APPEND
        && request.operation() != StoreOperation.COMPARE_SET) {
      return false;
    }
    StoredValue current = table.current(request.key());
    if (current == null) {
      return false;
    }
    int given = request.values().get(0).size();
    return request.operation() == StoreOperation.APPEND
        ? (long) given + current.size() <= Store.MAX_VALUE_BYTES
            && !table.values().isQuick(given + current.size())
        : given == current.size() && !table.values().isQuick(given);
  }

  private static PendingReply startAtOnce(StoreTable table, StoreRequest request) {
    List<String> keys = request.keys();
    return switch (request.operation()) {
      case SET -> {
        table.set(keys, newValues(table, keys, request.values()));
        yield done(StoreReply.DONE);
      }
      case GET -> parked(table.get(keys), StoreReply::of);
      case ADD -> done(StoreReply.of(table.add(request.key(), request.number())));
      case WAIT -> parked(table.waitFor(keys), nothing -> StoreReply.DONE);
      case CHECK -> done(StoreReply.of(table.check(keys)));
      case DELETE -> done(StoreReply.of(table.delete(keys)));
      case COUNT -> done(StoreReply.of(table.count(request.key())));
      case LIST -> done(new StoreReply(List.of(), table.list(request.key()), 0));
      case QUEUE_PUSH -> {
        table.push(request.key(), newValues(table, keys, request.values()).get(0));
        yield done(StoreReply.DONE);
      }
      case QUEUE_POP -> parked(table.pop(request.key()), value -> StoreReply.of(List.of(value)));
      case QUEUE_POLL -> done(StoreReply.of(List.of(table.poll(request.key()))));
      case QUEUE_LENGTH -> done(StoreReply.of(table.queueLength(request.key())));
      case BARRIER ->
          parked(
              table.barrier(request.key(), worldSize(request.number())),
              nothing -> StoreReply.DONE);
      case COMPARE_SET, APPEND, EXPIRE, RELEASE, NEXT, FORGET ->
          throw new StoreException("a table has nothing to " + request.operation().method());
    };
  }

  /**
   * Creates the values that a table keeps for values in memory; keeps those that were made for it
   * already.
   */
  private static List<StoredValue> newValues(
      StoreTable table, List<String> keys, List<StoredValue> given) {
    List<StoredValue> values = new ArrayList<>(given);
    try {
      for (int i = 0; i < given.size(); i++) {
        if (given.get(i).reference().isEmpty()) {
          values.set(i, table.newValue(keys.get(i), given.get(i).bytes()));
        }
      }
    } catch (RuntimeException | Error e) {
      values.forEach(StoredValue::released);
      throw e;
    }
    return values;
  }

  private static StoreReply compareSet(
      StoreTable table, StoreRequest request, ValueUpdates updates) {
    List<String> key = request.keys();
    StoredValue expected = request.values().get(0);
    StoreTable.Exchange exchange;
    try {
      StoredValue desired = newValues(table, key, request.values().subList(1, 2)).get(0);
      exchange = updates.compareSet(request.key(), expected, desired);
    } finally {
      expected.released();
    }
    if (exchange.stored()) {
      return StoreReply.of(StoreReply.STORED);
    }
    return exchange.current() == null
        ? StoreReply.of(StoreReply.MISSING)
        : new StoreReply(List.of(exchange.current()), List.of(), StoreReply.DIFFERENT);
  }

  private static int worldSize(long number) {
    if (number > Integer.MAX_VALUE) {
      throw new StoreException("world size " + number + " is too large");
    }
    return (int) Math.max(number, 0);
  }

  static PendingReply done(StoreReply reply) {
    PendingReply pending =
        new PendingReply() {
          @Override
          void expire(Duration waited) {}
        };
    pending.complete(reply);
    return pending;
  }

  private static <T> PendingReply parked(StoreWaiter<T> waiter, Function<T, StoreReply> toReply) {
    return new ParkedReply<>(waiter, toReply);
  }

  /** A waiter of the table as a reply. Whatever ends the reply goes through the waiter. */
  private static final class ParkedReply<T> extends PendingReply {

    private final StoreWaiter<T> waiter;

    ParkedReply(StoreWaiter<T> waiter, Function<T, StoreReply> toReply) {
      this.waiter = waiter;
      waiter.whenComplete(
          (granted, failure) -> {
            if (failure == null) {
              super.complete(toReply.apply(granted));
            } else {
              super.completeExceptionally(failure);
            }
          });
    }

    @Override
    void expire(Duration waited) {
      waiter.expire(waited);
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
      return waiter.completeExceptionally(failure);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      return waiter.cancel(mayInterruptIfRunning);
    }
  }
}
