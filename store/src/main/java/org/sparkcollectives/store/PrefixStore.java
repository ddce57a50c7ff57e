package org.sparkcollectives.store;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * A view of another store in which each key {@code k} means {@code prefix + "/" + k} there.
 *
 * <p>In nested views the outermost prefix comes last: {@code new PrefixStore("a", new
 * PrefixStore("b", base))} turns {@code k} into {@code b/a/k}. A view owns nothing: closing it does
 * nothing. {@link #of} returns a {@link WatchableStore} if the other store is one.
 */
public class PrefixStore implements Store, PrefixQueries {

  private final Store store;
  private final String prefix;

  /** Creates a view of {@code store}. */
  public PrefixStore(String prefix, Store store) {
    this.prefix = KeyText.checked(prefix) + "/";
    this.store = Objects.requireNonNull(store, "store");
  }

  /** Creates a view of {@code store} that can watch keys if {@code store} can. */
  public static PrefixStore of(String prefix, Store store) {
    return store instanceof WatchableStore watchable
        ? new WatchablePrefixStore(prefix, watchable)
        : new PrefixStore(prefix, store);
  }

  /** Returns the store of which this is a view. */
  public final Store underlyingStore() {
    return store;
  }

  /** Creates the same view of another store. */
  final PrefixStore over(Store other) {
    return of(prefix.substring(0, prefix.length() - 1), other);
  }

  final String underlyingKey(String key) {
    return prefix + Objects.requireNonNull(key, "key");
  }

  private List<String> underlyingKeys(Collection<String> keys) {
    return keys.stream().map(this::underlyingKey).toList();
  }

  private List<String> ownKeys(List<String> keys) {
    return keys.stream()
        .map(key -> key.startsWith(prefix) ? key.substring(prefix.length()) : key)
        .toList();
  }

  /** Runs {@code call}. An exception that it throws shows the keys as they are in this view. */
  private <T> T naming(Supplier<T> call) {
    try {
      return call.get();
    } catch (StoreConnectionException e) {
      throw e;
    } catch (StoreException e) {
      RuntimeException own = StoreFailure.of(e).withoutPrefix(prefix).toException();
      own.initCause(e);
      throw own;
    }
  }

  private void naming(Runnable call) {
    naming(
        () -> {
          call.run();
          return null;
        });
  }

  @Override
  public final void set(String key, byte[] value) {
    naming(() -> store.set(underlyingKey(key), value));
  }

  @Override
  public final byte[] get(String key) {
    return naming(() -> store.get(underlyingKey(key)));
  }

  @Override
  public final byte[] compareSet(String key, byte[] expected, byte[] desired) {
    return naming(() -> store.compareSet(underlyingKey(key), expected, desired));
  }

  @Override
  public final long add(String key, long amount) {
    return naming(() -> store.add(underlyingKey(key), amount));
  }

  @Override
  public final void append(String key, byte[] value) {
    naming(() -> store.append(underlyingKey(key), value));
  }

  @Override
  public final void waitFor(Collection<String> keys, Duration timeout) {
    naming(() -> store.waitFor(underlyingKeys(keys), timeout));
  }

  @Override
  public final boolean check(Collection<String> keys) {
    return store.check(underlyingKeys(keys));
  }

  @Override
  public final boolean deleteKey(String key) {
    return store.deleteKey(underlyingKey(key));
  }

  @Override
  public final long deleteKeys(Collection<String> keys) {
    return store.deleteKeys(underlyingKeys(keys));
  }

  @Override
  public final long numKeys() {
    return countKeys("");
  }

  @Override
  public final long countKeys(String keyPrefix) {
    return PrefixQueries.of(store).countKeys(underlyingKey(keyPrefix));
  }

  @Override
  public final List<byte[]> multiGet(List<String> keys) {
    return naming(() -> store.multiGet(underlyingKeys(keys)));
  }

  @Override
  public final void multiSet(List<String> keys, List<byte[]> values) {
    naming(() -> store.multiSet(underlyingKeys(keys), values));
  }

  @Override
  public final List<String> listKeys() {
    return keysUnder("");
  }

  @Override
  public final List<String> keysUnder(String keyPrefix) {
    return ownKeys(PrefixQueries.of(store).keysUnder(underlyingKey(keyPrefix)));
  }

  @Override
  public final void queuePush(String key, byte[] value) {
    naming(() -> store.queuePush(underlyingKey(key), value));
  }

  @Override
  public final byte[] queuePop(String key, boolean block) {
    return naming(() -> store.queuePop(underlyingKey(key), block));
  }

  @Override
  public final long queueLength(String key) {
    return naming(() -> store.queueLength(underlyingKey(key)));
  }

  @Override
  public final void barrier(String key, int worldSize, Duration timeout) {
    naming(() -> store.barrier(underlyingKey(key), worldSize, timeout));
  }

  @Override
  public final Duration ping() {
    return store.ping();
  }

  @Override
  public final StoreStatistics statistics() {
    return store.statistics();
  }

  @Override
  public final Duration timeout() {
    return store.timeout();
  }

  @Override
  public final Store withTimeout(Duration timeout) {
    return over(store.withTimeout(timeout));
  }

  @Override
  public final Store withPrefix(String innerPrefix) {
    return of(innerPrefix, this);
  }

  @Override
  public final void close() {}

  @Override
  public final String toString() {
    return "prefix " + KeyText.quote(prefix) + " of " + store;
  }
}
