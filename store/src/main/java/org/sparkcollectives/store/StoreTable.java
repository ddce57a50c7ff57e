package org.sparkcollectives.store;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The data of a store and the semantics of every operation on it, written once for all kinds.
 *
 * <p>Thread-safe, and no method blocks. An operation that must wait returns a {@link StoreWaiter},
 * a future which the caller expires or cancels when it gives up. Waiters are granted in the order
 * in which they came. A future completes on the thread whose call decided it, with no lock held.
 *
 * <p>A key is a value or a queue. It is a queue from its first push until its last value is taken;
 * during that time it counts as a key that exists. An operation for the other kind throws {@link
 * StoreException}, and so does a parked one when the key comes into being as the other kind.
 * Barriers have a name space of their own and are not keys.
 */
public final class StoreTable implements AutoCloseable {

  private final Object lock = new Object();
  private final StoredValue.Factory values;
  private final TableEntries entries = new TableEntries();
  private final ParkedWaiters<KeysWaiter> readers = new ParkedWaiters<>();
  private final ParkedWaiters<PopWaiter> takers = new ParkedWaiters<>();
  private final BarrierRounds barriers = new BarrierRounds(lock);

  /** Creates the exception that every call throws; null while the table is open. */
  private Supplier<RuntimeException> ended;

  /** Creates an empty table that keeps all values in memory. */
  public StoreTable() {
    this((key, bytes) -> StoredValue.of(bytes));
  }

  /** Creates an empty table whose values {@code values} makes. */
  public StoreTable(StoredValue.Factory values) {
    this.values = Objects.requireNonNull(values, "values");
  }

  /**
   * Creates a value of the kind that this table keeps for {@code key}. It owns {@code bytes} from
   * now on.
   */
  public StoredValue newValue(String key, byte[] bytes) {
    return values.create(key, bytes);
  }

  /** Returns what makes the values that this table keeps. */
  StoredValue.Factory values() {
    return values;
  }

  /** Returns the value of {@code key} now, or null. */
  StoredValue current(String key) {
    return change(wakeups -> entries.value(key));
  }

  /**
   * Stores each value under the key at the same place, in order, in one step. The table owns the
   * values from now on; if it throws, it releases them.
   */
  public void set(List<String> keys, List<StoredValue> newValues) {
    keep(
        newValues,
        wakeups -> {
          if (keys.size() != newValues.size()) {
            throw new IllegalArgumentException(
                keys.size() + " keys but " + newValues.size() + " values: nothing was stored");
          }
          keys.forEach(entries::value); // Throws for a queue before anything is stored.
          for (int i = 0; i < keys.size(); i++) {
            put(keys.get(i), newValues.get(i), wakeups);
          }
          return null;
        });
  }

  /**
   * Changes the table by an action that takes over {@code given}, or throws; then they are
   * released.
   */
  private <T> T keep(List<StoredValue> given, Function<Wakeups, T> action) {
    try {
      return change(action);
    } catch (RuntimeException | Error e) {
      given.forEach(StoredValue::released);
      throw e;
    }
  }

  /** Waits until all {@code keys} exist; the future holds their values in the same order. */
  public StoreWaiter<List<StoredValue>> get(List<String> keys) {
    return park(new KeysWaiter(lock, entries, readers, keys, true));
  }

  /** Waits until all {@code keys} exist, values or queues; the future holds an empty list. */
  public StoreWaiter<List<StoredValue>> waitFor(Collection<String> keys) {
    return park(new KeysWaiter(lock, entries, readers, keys, false));
  }

  private StoreWaiter<List<StoredValue>> park(KeysWaiter waiter) {
    return change(
        wakeups -> {
          advance(waiter, wakeups);
          return waiter;
        });
  }

  /**
   * Replaces the value of {@code key} if it equals {@code expected}, or if {@code expected} is
   * empty and there is no value. The table owns the desired value from now on; if it throws or does
   * not store it, it releases it.
   */
  public Exchange compareSet(String key, byte[] expected, StoredValue desired) {
    return new ValueUpdates(this, values).compareSet(key, StoredValue.of(expected), desired);
  }

  /**
   * The outcome of a compare-and-set.
   *
   * @param stored whether the desired value was stored
   * @param current the value now; null if the key does not exist
   */
  public record Exchange(boolean stored, StoredValue current) {}

  /**
   * Adds to the decimal 64-bit number under {@code key}, 0 if it is missing, and returns the sum.
   */
  public long add(String key, long amount) {
    return change(
        wakeups -> {
          long sum = StoredNumber.add(key, entries.value(key), amount);
          put(key, values.create(key, StoredNumber.encode(sum)), wakeups);
          return sum;
        });
  }

  /** Appends to the value of {@code key}, creating it if it does not exist. */
  public void append(String key, byte[] tail) {
    new ValueUpdates(this, values).append(key, StoredValue.of(tail));
  }

  /** Replaces {@code current}, null for none, by {@code next}, and returns whether it did. */
  boolean replace(String key, StoredValue current, StoredValue next) {
    return change(
        wakeups -> {
          if (entries.value(key) != current) {
            return false;
          }
          put(key, next, wakeups);
          return true;
        });
  }

  /** Returns whether all {@code keys} exist. */
  public boolean check(Collection<String> keys) {
    return change(wakeups -> keys.stream().allMatch(entries::contains));
  }

  /** Removes {@code keys}, values or queues, and returns how many of them existed. */
  public long delete(Collection<String> keys) {
    return change(wakeups -> remove(keys, wakeups));
  }

  /** Returns the number of keys that start with {@code keyPrefix}. */
  public long count(String keyPrefix) {
    return change(wakeups -> (long) entries.keysUnder(keyPrefix).size());
  }

  /**
   * Returns the keys that start with {@code keyPrefix}, including the prefix, in the order of their
   * characters.
   */
  public List<String> list(String keyPrefix) {
    return change(wakeups -> entries.keysUnder(keyPrefix));
  }

  /**
   * Appends to the queue {@code key}, creating it if it does not exist. The table owns the value
   * from now on; if it throws, it releases it.
   */
  public void push(String key, StoredValue value) {
    keep(
        List.of(value),
        wakeups -> {
          entries.push(key, value);
          appeared(key, wakeups);
          PopWaiter taker = takers.takeFirst(key);
          if (taker != null) {
            wakeups.grant(taker, entries.take(key));
          }
          return null;
        });
  }

  /**
   * Takes the oldest value out of the queue {@code key} as soon as there is one. The caller owns
   * the value, and releases it.
   */
  public StoreWaiter<StoredValue> pop(String key) {
    return change(
        wakeups -> {
          PopWaiter waiter = new PopWaiter(lock, takers, key);
          if (entries.queueLength(key) == 0) {
            takers.park(key, waiter);
          } else {
            wakeups.grant(waiter, entries.take(key));
          }
          return waiter;
        });
  }

  /**
   * Takes the oldest value out of the queue {@code key} now. The caller owns the value, and
   * releases it.
   *
   * @throws QueueEmptyException if there is none
   */
  public StoredValue poll(String key) {
    return change(
        wakeups -> {
          if (entries.queueLength(key) == 0) {
            throw new QueueEmptyException("queue " + KeyText.quote(key) + " is empty");
          }
          return entries.take(key);
        });
  }

  /** Returns the number of values in the queue {@code key}; 0 if it does not exist. */
  public long queueLength(String key) {
    return change(wakeups -> (long) entries.queueLength(key));
  }

  /**
   * Arrives at the barrier {@code key}. The future completes once {@code worldSize} callers have
   * arrived.
   */
  public StoreWaiter<Void> barrier(String key, int worldSize) {
    if (worldSize < 1) {
      throw new IllegalArgumentException(
          "barrier " + KeyText.quote(key) + ": world size must be positive, got " + worldSize);
    }
    return change(wakeups -> barriers.arrive(key, worldSize, wakeups));
  }

  /**
   * Removes every key that starts with {@code keyPrefix}, and fails every waiter for such a key or
   * barrier with a {@link StoreException} that contains {@code reason}.
   *
   * @return the number of keys removed
   */
  public long removePrefix(String keyPrefix, String reason) {
    return change(
        wakeups -> {
          failWaiters(
              waiter -> waiter.waitsUnder(keyPrefix),
              waiter ->
                  new StoreException(
                      waiter.what()
                          + " ended: everything under "
                          + KeyText.quote(keyPrefix)
                          + " was removed: "
                          + reason),
              wakeups);
          return remove(entries.keysUnder(keyPrefix), wakeups);
        });
  }

  /**
   * Drops all data, and fails every waiter and every later call with {@link IllegalStateException}.
   */
  @Override
  public void close() {
    end(() -> new IllegalStateException("the store is closed"));
  }

  /** Drops all data, and fails every waiter and every later call with {@code cause}. */
  void fail(RuntimeException cause) {
    end(() -> cause);
  }

  private void end(Supplier<RuntimeException> reason) {
    Wakeups wakeups = new Wakeups();
    synchronized (lock) {
      if (ended != null) {
        return;
      }
      ended = reason;
      failWaiters(waiter -> true, waiter -> reason.get(), wakeups);
      remove(entries.keysUnder(""), wakeups);
    }
    wakeups.run();
  }

  /** Returns how many waiters are parked, of all kinds. */
  int waiterCount() {
    synchronized (lock) {
      return readers.count() + takers.count() + barriers.count();
    }
  }

  private <T> T change(Function<Wakeups, T> action) {
    Wakeups wakeups = new Wakeups();
    try {
      synchronized (lock) {
        if (ended != null) {
          throw ended.get();
        }
        return action.apply(wakeups);
      }
    } finally {
      wakeups.run();
    }
  }

  private void put(String key, StoredValue value, Wakeups wakeups) {
    StoredValue replaced = entries.put(key, value);
    if (replaced != null) {
      wakeups.release(replaced);
      return;
    }
    appeared(key, wakeups);
    for (PopWaiter taker : takers.takeAll(key)) {
      wakeups.fail(taker, TableEntries.notAQueue(key));
    }
  }

  /** Removes keys, and returns how many of them existed. */
  private long remove(Collection<String> keys, Wakeups wakeups) {
    long existed = 0;
    for (String key : keys) {
      existed += entries.contains(key) ? 1 : 0;
      entries.remove(key).forEach(wakeups::release);
    }
    return existed;
  }

  private void appeared(String key, Wakeups wakeups) {
    for (KeysWaiter waiter : readers.takeAll(key)) {
      advance(waiter, wakeups);
    }
  }

  private void advance(KeysWaiter waiter, Wakeups wakeups) {
    try {
      String missing = waiter.nextMissing();
      if (missing == null) {
        wakeups.grant(waiter, waiter.granted());
      } else {
        readers.park(missing, waiter);
      }
    } catch (StoreException wrongKind) {
      wakeups.fail(waiter, wrongKind);
    }
  }

  private void failWaiters(
      Predicate<StoreWaiter<?>> condition,
      Function<StoreWaiter<?>, RuntimeException> failure,
      Wakeups wakeups) {
    readers.takeIf(condition).forEach(waiter -> wakeups.fail(waiter, failure.apply(waiter)));
    takers.takeIf(condition).forEach(waiter -> wakeups.fail(waiter, failure.apply(waiter)));
    barriers.takeIf(condition).forEach(waiter -> wakeups.fail(waiter, failure.apply(waiter)));
  }
}
