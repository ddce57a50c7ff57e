package org.sparkcollectives.store;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.TreeMap;

/** The keys of a table, each a value or a queue that is not empty. Guarded by the table's lock. */
final class TableEntries {

  // Sorted, so that all keys under a prefix are one range.
  private final NavigableMap<String, Entry> byKey = new TreeMap<>();

  boolean contains(String key) {
    return byKey.containsKey(key);
  }

  /** Returns the value of {@code key}, or null. Throws if the key is a queue. */
  StoredValue value(String key) {
    Entry entry = byKey.get(key);
    if (entry instanceof QueueEntry) {
      throw new StoreException(
          "key " + KeyText.quote(key) + " is a queue, not a value: use the queue operations");
    }
    return entry == null ? null : ((ValueEntry) entry).value();
  }

  /**
   * Stores a value under a key that is not a queue. Returns the value that it replaces, or null.
   */
  StoredValue put(String key, StoredValue value) {
    StoredValue replaced = value(key);
    byKey.put(key, new ValueEntry(value));
    return replaced;
  }

  void push(String key, StoredValue value) {
    QueueEntry queue = queue(key);
    if (queue == null) {
      queue = new QueueEntry(new ArrayDeque<>());
      byKey.put(key, queue);
    }
    queue.values().add(value);
  }

  /** Takes the oldest value of a queue that has one. */
  StoredValue take(String key) {
    QueueEntry queue = queue(key);
    StoredValue oldest = queue.values().remove();
    if (queue.values().isEmpty()) {
      byKey.remove(key);
    }
    return oldest;
  }

  int queueLength(String key) {
    QueueEntry queue = queue(key);
    return queue == null ? 0 : queue.values().size();
  }

  private QueueEntry queue(String key) {
    Entry entry = byKey.get(key);
    if (entry instanceof ValueEntry) {
      throw notAQueue(key);
    }
    return (QueueEntry) entry;
  }

  static StoreException notAQueue(String key) {
    return new StoreException("key " + KeyText.quote(key) + " is a value, not a queue");
  }

  /** Removes {@code key} and returns what it held. */
  Collection<StoredValue> remove(String key) {
    Entry entry = byKey.remove(key);
    return entry == null ? List.of() : entry.held();
  }

  List<String> keysUnder(String keyPrefix) {
    return byKey.tailMap(keyPrefix, true).keySet().stream()
        .takeWhile(key -> key.startsWith(keyPrefix))
        .toList();
  }

  private sealed interface Entry {
    Collection<StoredValue> held();
  }

  private record ValueEntry(StoredValue value) implements Entry {
    @Override
    public Collection<StoredValue> held() {
      return List.of(value);
    }
  }

  private record QueueEntry(Queue<StoredValue> values) implements Entry {
    @Override
    public Collection<StoredValue> held() {
      return values;
    }
  }
}
