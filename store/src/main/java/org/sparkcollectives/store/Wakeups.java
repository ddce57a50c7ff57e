package org.sparkcollectives.store;

import java.util.ArrayList;
import java.util.List;

/**
 * The decisions that a change of the table made under its lock, announced once the lock is
 * released.
 */
final class Wakeups {

  private final List<Runnable> actions = new ArrayList<>(2);

  <T> void grant(StoreWaiter<T> waiter, T value) {
    waiter.decide();
    actions.add(() -> waiter.grant(value));
  }

  void fail(StoreWaiter<?> waiter, RuntimeException failure) {
    waiter.decide();
    actions.add(() -> waiter.fail(failure));
  }

  void release(StoredValue value) {
    actions.add(value::released);
  }

  /** Announces the decisions in their order. The caller must not hold the lock. */
  void run() {
    actions.forEach(Runnable::run);
  }
}
