package org.sparkcollectives.internal.liveness;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Tracks the operations of a rank that use the store themselves, and are no pending work meanwhile.
 * Thread-safe.
 */
public final class StoreSteps {

  private record Step(Thread thread, long beganNanos) {}

  private final TimeSource time;
  private final Set<Step> running = ConcurrentHashMap.newKeySet();

  public StoreSteps(TimeSource time) {
    this.time = time;
  }

  public <T> T run(Supplier<T> operation) {
    Step step = new Step(Thread.currentThread(), time.nanos());
    running.add(step);
    try {
      return operation.get();
    } finally {
      running.remove(step);
    }
  }

  /** Returns whether one has begun more than {@code nanos} ago. */
  public boolean anyIsOlder(long nanos, long now) {
    return running.stream().anyMatch(step -> now - step.beganNanos() > nanos);
  }
}
