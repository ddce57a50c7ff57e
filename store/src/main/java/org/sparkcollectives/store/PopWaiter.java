package org.sparkcollectives.store;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.config.TimeString;

/** Waits for a value of a queue that is empty. Guarded by the table's lock. */
final class PopWaiter extends StoreWaiter<StoredValue> {

  private final ParkedWaiters<PopWaiter> takers;
  private final String key;

  PopWaiter(Object lock, ParkedWaiters<PopWaiter> takers, String key) {
    super(lock);
    this.takers = takers;
    this.key = key;
  }

  @Override
  void unpark() {
    takers.remove(key, this);
  }

  @Override
  StoreTimeoutException timeoutAfter(Duration waited) {
    return timeout(key, waited);
  }

  /** Returns the exception for a queue {@code key} to which no value came. */
  static StoreTimeoutException timeout(String key, Duration waited) {
    return new StoreTimeoutException(
        waitingFor(key) + " timed out after " + TimeString.format(waited) + ": it is empty",
        List.of(key),
        waited);
  }

  @Override
  boolean waitsUnder(String keyPrefix) {
    return key.startsWith(keyPrefix);
  }

  @Override
  String what() {
    return waitingFor(key);
  }

  private static String waitingFor(String key) {
    return "waiting for a value in queue " + KeyText.quote(key);
  }
}
