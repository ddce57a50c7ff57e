package org.sparkcollectives.store;

import java.util.ArrayList;
import java.util.List;

/** What a change of the table has decided under its lock, to be told once the lock is free. */
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

  /** Runs them in the order of the decisions; the lock must not be held. */
  void run() {
    actions.forEach(Runnable::run);
  }
}
