package org.sparkcollectives.testing;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for what another thread is about to do. */
public final class Eventually {

  /** Far longer than anything here takes, so that no test fails on a loaded machine. */
  public static final Duration LIMIT = Duration.ofSeconds(30);

  private Eventually() {}

  /** Returns once {@code condition} holds; fails with {@code state} if it never does. */
  public static void holds(BooleanSupplier condition, Supplier<String> state) {
    holds(condition, LIMIT, state);
  }

  /**
   * Waits as {@link #holds} does, for a condition that holds once unreachable objects are
   * collected.
   */
  public static void holdsAfterCollection(BooleanSupplier condition, Supplier<String> state) {
    holds(
        () -> {
          System.gc();
          return condition.getAsBoolean();
        },
        state);
  }

  /**
   * Returns once {@code condition} holds; fails with {@code state} if it does not within a limit.
   */
  public static void holds(BooleanSupplier condition, Duration limit, Supplier<String> state) {
    long deadline = System.nanoTime() + limit.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("not within " + limit.toSeconds() + " s: " + state.get());
      }
      LockSupport.parkNanos(200_000);
    }
  }
}
