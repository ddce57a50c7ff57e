package org.sparkcollectives.internal.work;

import java.util.Arrays;

/** Runs several steps, each of them whatever the earlier ones throw, Errors included. */
public final class RunAll {

  private RunAll() {}

  /**
   * Runs all steps in order, then throws what the first failed one threw, with what the others
   * threw suppressed.
   */
  public static void of(Runnable... steps) {
    of(Arrays.asList(steps));
  }

  /** Runs all steps, as {@link #of(Runnable...)} does. */
  public static void of(Iterable<? extends Runnable> steps) {
    Throwable first = null;
    for (Runnable step : steps) {
      try {
        step.run();
      } catch (RuntimeException | Error e) {
        if (first == null) {
          first = e;
        } else if (first != e) {
          first.addSuppressed(e);
        }
      }
    }
    if (first instanceof Error error) {
      throw error;
    }
    if (first != null) {
      throw (RuntimeException) first;
    }
  }
}
