package org.sparkcollectives.store;

import static org.sparkcollectives.store.StoreOperation.ADD;
import static org.sparkcollectives.store.StoreOperation.APPEND;
import static org.sparkcollectives.store.StoreOperation.BARRIER;
import static org.sparkcollectives.store.StoreOperation.CHECK;
import static org.sparkcollectives.store.StoreOperation.COMPARE_SET;
import static org.sparkcollectives.store.StoreOperation.COUNT;
import static org.sparkcollectives.store.StoreOperation.DELETE;
import static org.sparkcollectives.store.StoreOperation.GET;
import static org.sparkcollectives.store.StoreOperation.LIST;
import static org.sparkcollectives.store.StoreOperation.QUEUE_LENGTH;
import static org.sparkcollectives.store.StoreOperation.QUEUE_POLL;
import static org.sparkcollectives.store.StoreOperation.QUEUE_POP;
import static org.sparkcollectives.store.StoreOperation.QUEUE_PUSH;
import static org.sparkcollectives.store.StoreOperation.SET;
import static org.sparkcollectives.store.StoreOperation.WAIT;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/** Turns the calls of {@link Store} into requests, and waits for their replies. */
abstract class AbstractStore implements WatchableStore, PrefixQueries {

  private static final Duration GRACE = Duration.ofSeconds(5);

  private final Duration timeout;

  AbstractStore(Duration timeout) {
    this.timeout = checkTimeout(timeout);
  }

  /**
   * Starts {@code request}. Does not block. Throws at once if the request is invalid.
   *
   * @throws IllegalStateException if this handle is closed
   */
  abstract PendingReply submit(StoreRequest request);

  /** Returns the name of the other side, for messages. */
  abstract String description();

  /**
   * Returns how much later than the caller's timeout the other side may answer. By then a reply is
   * on its way, or the notice that it gave up; a longer silence means that it is gone.
   */
  Duration grace() {
    return GRACE;
  }

  /** Returns what counts the calls of this handle, or of the handle that this is a view of. */
  abstract StoreCounters counters();

  /** Returns the store that this is a view of, or null if this is not a view. */
  Store underlying() {
    return null;
  }

  /** Returns how long a call may wait that asks to wait for {@code wanted}. */
  Duration bounded(Duration wanted) {
    return wanted;
  }

  @Override
  public final void set(String key, byte[] value) {
    multiSet(List.of(key), List.of(value));
  }

  @Override
  public final byte[] get(String key) {
    return multiGet(List.of(key)).get(0);
  }

  @Override
  public final byte[] compareSet(String key, byte[] expected, byte[] desired) {
    StoreReply reply = call(COMPARE_SET, List.of(key), List.of(expected, desired), 0);
    if (reply.number() == StoreReply.DIFFERENT) {
      return reply.values().get(0).toByteArray();
    }
    return reply.number() == StoreReply.STORED ? desired.clone() : expected.clone();
  }

  @Override
  public final long add(String key, long amount) {
    return call(ADD, List.of(key), List.of(), amount).number();
  }

  @Override
  public final void append(String key, byte[] value) {
    call(APPEND, List.of(key), List.of(value), 0);
  }

  @Override
  public final void waitFor(Collection<String> keys, Duration timeout) {
    call(request(WAIT, List.copyOf(keys), List.of(), 0, bounded(checkTimeout(timeout))));
  }

  @Override
  public final boolean check(Collection<String> keys) {
    return call(CHECK, List.copyOf(keys), List.of(), 0).number() == 1;
  }

  @Override
  public final boolean deleteKey(String key) {
    return deleteKeys(List.of(key)) == 1;
  }

  @Override
  public final long deleteKeys(Collection<String> keys) {
    return keys.isEmpty() ? 0 : call(DELETE, List.copyOf(keys), List.of(), 0).number();
  }

  @Override
  public final long numKeys() {
    return countKeys("");
  }

  @Override
  public final long countKeys(String keyPrefix) {
    return call(COUNT, List.of(keyPrefix), List.of(), 0).number();
  }

  @Override
  public final List<byte[]> multiGet(List<String> keys) {
    StoreReply reply = call(GET, List.copyOf(keys), List.of(), 0);
    return reply.values().stream().map(StoredValue::toByteArray).toList();
  }

  @Override
  public final void multiSet(List<String> keys, List<byte[]> values) {
    if (keys.size() != values.size()) {
      throw new IllegalArgumentException(
          "multiSet of " + keys.size() + " keys and " + values.size() + " values: nothing stored");
    }
    call(SET, List.copyOf(keys), List.copyOf(values), 0);
  }

  @Override
  public final List<String> listKeys() {
    return keysUnder("");
  }

  @Override
  public final List<String> keysUnder(String keyPrefix) {
    return call(LIST, List.of(keyPrefix), List.of(), 0).keys();
  }

  @Override
  public final void queuePush(String key, byte[] value) {
    call(QUEUE_PUSH, List.of(key), List.of(value), 0);
  }

  @Override
  public final byte[] queuePop(String key, boolean block) {
    StoreReply reply = call(block ? QUEUE_POP : QUEUE_POLL, List.of(key), List.of(), 0);
    StoredValue taken = reply.values().get(0);
    try {
      return taken.toByteArray();
    } finally {
      taken.released();
    }
  }

  @Override
  public final long queueLength(String key) {
    return call(QUEUE_LENGTH, List.of(key), List.of(), 0).number();
  }

  @Override
  public final void barrier(String key, int worldSize, Duration timeout) {
    if (worldSize < 1) {
      throw new IllegalArgumentException(
          "barrier " + KeyText.quote(key) + ": world size must be positive, got " + worldSize);
    }
    call(request(BARRIER, List.of(key), List.of(), worldSize, bounded(checkTimeout(timeout))));
  }

  @Override
  public final CompletableFuture<byte[]> watch(String key) {
    PendingReply pending =
        submit(request(GET, List.of(key), List.of(), 0, StoreRequest.NO_TIMEOUT));
    CompletableFuture<byte[]> watch = new CompletableFuture<>();
    pending.whenComplete(
        (reply, failure) -> {
          if (failure == null) {
            watch.complete(reply.values().get(0).toByteArray());
          } else {
            watch.completeExceptionally(failure);
          }
        });
    watch.whenComplete(
        (value, failure) -> {
          if (!pending.isDone()) {
            pending.expire(Duration.ZERO);
          }
        });
    return watch;
  }

  @Override
  public final Duration timeout() {
    return bounded(timeout);
  }

  private StoreReply call(
      StoreOperation operation, List<String> keys, List<byte[]> values, long number) {
    return call(request(operation, keys, values, number, timeout()));
  }

  private StoreReply call(StoreRequest request) {
    long start = System.nanoTime();
    boolean well = false;
    try {
      StoreReply reply = new StoreCall(request, description(), this::grace).await(submit(request));
      well = true;
      return reply;
    } finally {
      counters().add(request.operation(), System.nanoTime() - start, well);
    }
  }

  @Override
  public final StoreStatistics statistics() {
    return counters().statistics();
  }

  private static StoreRequest request(
      StoreOperation operation,
      List<String> keys,
      List<byte[]> values,
      long number,
      Duration timeout) {
    keys.forEach(KeyText::checked);
    for (byte[] value : values) {
      if (value.length > MAX_VALUE_BYTES) {
        throw new IllegalArgumentException(
            operation.method()
                + " of "
                + KeyText.quote(keys)
                + ": a value of "
                + value.length
                + " bytes is larger than the largest, "
                + MAX_VALUE_BYTES
                + " bytes; store it in parts");
      }
    }
    return StoreRequest.of(operation, keys, values, number, timeout);
  }

  private static Duration checkTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout");
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("timeout must not be negative, got " + timeout);
    }
    return timeout.compareTo(StoreRequest.NO_TIMEOUT) > 0 ? StoreRequest.NO_TIMEOUT : timeout;
  }
}
