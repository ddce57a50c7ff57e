package org.sparkcollectives.internal.transport.shm;

import java.util.function.BooleanSupplier;
import org.sparkcollectives.testing.Eventually;

/** Waits for another thread that makes something true in shared memory, and wakes nobody. */
final class Spinning {

  private static final int LOOKS_BEFORE_YIELD = 100;

  private Spinning() {}

  /** Returns once {@code condition} holds; fails if that takes far too long. */
  static void until(BooleanSupplier condition) {
    long start = System.nanoTime();
    for (int looks = 1; !condition.getAsBoolean(); looks++) {
      Thread.onSpinWait();
      if (looks % LOOKS_BEFORE_YIELD == 0) {
        Thread.yield();
        if (System.nanoTime() - start > Eventually.LIMIT.toNanos()) {
          throw new AssertionError("nothing came for " + Eventually.LIMIT);
        }
      }
    }
  }
}
