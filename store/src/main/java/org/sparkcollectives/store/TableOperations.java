package org.sparkcollectives.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Carries out requests on a table. */
final class TableOperations {

  private TableOperations() {}

  /**
   * Starts {@code request}, whose values the table then owns. Does not block; throws what fails at
   * once.
   */
  static PendingReply start(StoreTable table, StoreRequest request) {
    List<String> keys = request.keys();
    return switch (request.operation()) {
      case SET -> {
        table.set(keys, newValues(table, request));
        yield done(StoreReply.DONE);
      }
      case GET -> parked(table.get(keys), StoreReply::of);
      case COMPARE_SET -> done(compareSet(table, request));
      case ADD -> done(StoreReply.of(table.add(request.key(), request.number())));
      case APPEND -> {
        table.append(request.key(), request.values().get(0));
        yield done(StoreReply.DONE);
      }
      case WAIT -> parked(table.waitFor(keys), nothing -> StoreReply.DONE);
      case CHECK -> done(StoreReply.of(table.check(keys)));
      case DELETE -> done(StoreReply.of(table.delete(request.key())));
      case COUNT -> done(StoreReply.of(table.count(request.key())));
      case LIST -> done(new StoreReply(List.of(), table.list(request.key()), 0));
      case QUEUE_PUSH -> {
        table.push(request.key(), newValues(table, request).get(0));
        yield done(StoreReply.DONE);
      }
      case QUEUE_POP -> parked(table.pop(request.key()), value -> StoreReply.of(List.of(value)));
      case QUEUE_POLL -> done(StoreReply.of(List.of(table.poll(request.key()))));
      case QUEUE_LENGTH -> done(StoreReply.of(table.queueLength(request.key())));
      case BARRIER ->
          parked(
              table.barrier(request.key(), worldSize(request.number())),
              nothing -> StoreReply.DONE);
      case EXPIRE, RELEASE ->
          throw new StoreException("a table has nothing to " + request.operation().method());
    };
  }

  private static List<StoredValue> newValues(StoreTable table, StoreRequest request) {
    List<StoredValue> values = new ArrayList<>(request.values().size());
    try {
      for (int i = 0; i < request.values().size(); i++) {
        values.add(table.newValue(request.keys().get(i), request.values().get(i)));
      }
    } catch (RuntimeException | Error e) {
      values.forEach(StoredValue::released);
      throw e;
    }
    return values;
  }

  private static StoreReply compareSet(StoreTable table, StoreRequest request) {
    String key = request.key();
    StoreTable.Exchange exchange =
        table.compareSet(
            key, request.values().get(0), table.newValue(key, request.values().get(1)));
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

  /** A waiter of the table as a reply: whatever ends this one goes through the waiter. */
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
