package org.sparkcollectives.store;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.sparkcollectives.config.TimeString;

/**
 * Waits until all of some keys exist.
 *
 * <p>A waiter is parked under one missing key at a time. When that key comes, it moves on to the
 * next one; so n keys that come one by one cost n steps. Guarded by the table's lock.
 */
final class KeysWaiter extends StoreWaiter<List<StoredValue>> {

  private final TableEntries entries;
  private final ParkedWaiters<KeysWaiter> readers;
  private final List<String> keys;
  private final boolean reads;
  private int next;

  /**
   * Creates a waiter that reads the values at the end, or that only waits. One that only waits
   * accepts queues as well.
   */
  KeysWaiter(
      Object lock,
      TableEntries entries,
      ParkedWaiters<KeysWaiter> readers,
      Collection<String> keys,
      boolean reads) {
    super(lock);
    this.entries = entries;
    this.readers = readers;
    this.keys = List.copyOf(keys);
    this.reads = reads;
  }

  /** Returns the key to park under, or null if all exist. Throws if a key to be read is a queue. */
  String nextMissing() {
    skipExisting();
    if (next == keys.size()) {
      // Keys that were found earlier may have been deleted since.
      next = 0;
      skipExisting();
    }
    return next < keys.size() ? keys.get(next) : null;
  }

  private void skipExisting() {
    while (next < keys.size() && exists(keys.get(next))) {
      next++;
    }
  }

  private boolean exists(String key) {
    return reads ? entries.value(key) != null : entries.contains(key);
  }

  List<StoredValue> granted() {
    return reads ? keys.stream().map(entries::value).toList() : List.of();
  }

  @Override
  void unpark() {
    readers.remove(keys.get(next), this);
  }

  @Override
  StoreTimeoutException timeoutAfter(Duration waited) {
    List<String> missing = keys.stream().filter(key -> !entries.contains(key)).toList();
    String text = what() + " timed out after " + TimeString.format(waited);
    if (keys.size() > 1) {
      text += "; missing: " + KeyText.quote(missing);
    }
    return new StoreTimeoutException(text, missing, waited);
  }

  @Override
  boolean waitsUnder(String keyPrefix) {
    return keys.stream().anyMatch(key -> key.startsWith(keyPrefix));
  }

  @Override
  String what() {
    return keys.size() == 1
        ? "waiting for key " + KeyText.quote(keys.get(0))
        : "waiting for " + keys.size() + " keys";
  }
}
