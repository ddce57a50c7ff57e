package org.sparkcollectives.store;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * One operation on a store, as data.
 *
 * @param keys the keys, or the prefix for COUNT and LIST
 * @param number the amount, the world size, or the id of a request
 * @param timeout how long the caller will wait, which the messages of timeouts repeat; {@link
 *     #NO_TIMEOUT} for a watch
 */
record StoreRequest(
    StoreOperation operation,
    List<String> keys,
    List<StoredValue> values,
    long number,
    Duration timeout) {

  static final Duration NO_TIMEOUT = Duration.ofNanos(Long.MAX_VALUE);

  StoreRequest {
    Objects.requireNonNull(operation, "operation");
    Objects.requireNonNull(timeout, "timeout");
  }

  /** Creates a request whose values are in memory. The arrays are not copied. */
  static StoreRequest of(
      StoreOperation operation,
      List<String> keys,
      List<byte[]> values,
      long number,
      Duration timeout) {
    return new StoreRequest(
        operation, keys, values.stream().map(StoredValue::of).toList(), number, timeout);
  }

  String key() {
    return keys.get(0);
  }

  StoreRequest withKeys(UnaryOperator<String> change) {
    return new StoreRequest(operation, keys.stream().map(change).toList(), values, number, timeout);
  }

  StoreRequest withValues(List<StoredValue> others) {
    return new StoreRequest(operation, keys, others, number, timeout);
  }

  /** Returns the operation and its keys, for messages. */
  String describe() {
    return keys.isEmpty() ? operation.method() : operation.method() + " of " + KeyText.quote(keys);
  }
}
