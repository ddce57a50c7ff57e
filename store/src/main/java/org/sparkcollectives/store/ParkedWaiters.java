package org.sparkcollectives.store;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Waiters by the key under which they are parked, the oldest first. Guarded by the table's lock.
 *
 * @param <W> the kind of waiter
 */
final class ParkedWaiters<W> {

  private final Map<String, Set<W>> byKey = new HashMap<>();

  void park(String key, W waiter) {
    byKey.computeIfAbsent(key, k -> new LinkedHashSet<>()).add(waiter);
  }

  void remove(String key, W waiter) {
    Set<W> waiters = byKey.get(key);
    if (waiters != null && waiters.remove(waiter) && waiters.isEmpty()) {
      byKey.remove(key);
    }
  }

  /** Takes all waiters that are parked under {@code key}. */
  Collection<W> takeAll(String key) {
    Set<W> waiters = byKey.remove(key);
    return waiters == null ? List.of() : waiters;
  }

  /**
   * Takes the waiter that has been parked longest under {@code key}; returns null if there is none.
   */
  W takeFirst(String key) {
    Set<W> waiters = byKey.get(key);
    if (waiters == null) {
      return null;
    }
    W first = waiters.iterator().next();
    remove(key, first);
    return first;
  }

  /** Takes all waiters for which {@code condition} holds, whatever their key. */
  List<W> takeIf(Predicate<? super W> condition) {
    List<W> taken = new ArrayList<>();
    for (Set<W> waiters : byKey.values()) {
      waiters.removeIf(waiter -> condition.test(waiter) && taken.add(waiter));
    }
    byKey.values().removeIf(Set::isEmpty);
    return taken;
  }

  int count() {
    return byKey.values().stream().mapToInt(Set::size).sum();
  }
}
