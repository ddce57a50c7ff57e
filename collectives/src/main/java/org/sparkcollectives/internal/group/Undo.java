package org.sparkcollectives.internal.group;

import java.util.ArrayDeque;
import java.util.Deque;
import org.sparkcollectives.internal.work.RunAll;

/**
 * The steps that take back what was made so far, for when making the rest fails. Not thread-safe.
 */
final class Undo {

  private final Deque<Runnable> steps = new ArrayDeque<>();

  /** Adds the step that takes back what was just made. */
  void add(Runnable step) {
    steps.push(step);
  }

  /** Runs all steps, the last first; what they throw is suppressed by what was thrown before. */
  void after(Throwable thrown) {
    try {
      RunAll.of(steps);
    } catch (RuntimeException | Error e) {
      thrown.addSuppressed(e);
    }
  }
}
