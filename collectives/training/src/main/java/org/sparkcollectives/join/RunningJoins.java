package org.sparkcollectives.join;

import java.util.IdentityHashMap;
import java.util.List;

/**
 * The joins that run in this JVM, by their joinables. Joinables are told apart by identity, because
 * the ranks of one JVM may have joinables that are equal.
 */
final class RunningJoins {

  private static final IdentityHashMap<Joinable, Join> BY_JOINABLE = new IdentityHashMap<>();

  private RunningJoins() {}

  /** Returns the join that a joinable is in; null if there is none. */
  static Join of(Joinable joinable) {
    synchronized (BY_JOINABLE) {
      return BY_JOINABLE.get(joinable);
    }
  }

  /**
   * Refuses joinables that are in another join.
   *
   * @throws IllegalStateException if one is
   */
  static void requireNone(List<Joinable> joinables) {
    for (Joinable each : joinables) {
      if (of(each) != null) {
        throw new IllegalStateException(
            each + " is in a join already; end that one before the next begins");
      }
    }
  }

  static void add(List<Joinable> joinables, Join join) {
    synchronized (BY_JOINABLE) {
      joinables.forEach(each -> BY_JOINABLE.put(each, join));
    }
  }

  static void remove(List<Joinable> joinables) {
    synchronized (BY_JOINABLE) {
      joinables.forEach(BY_JOINABLE::remove);
    }
  }
}
