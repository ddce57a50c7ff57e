package org.sparkcollectives.internal.group;

/** Runs the steps of a close, each of them even if earlier ones fail. */
final class ClosingSteps {

  private ClosingSteps() {}

  /**
   * Runs all steps; throws what the first failed one threw, with what the others threw suppressed.
   */
  static void run(Runnable... steps) {
    RuntimeException first = null;
    for (Runnable step : steps) {
      try {
        step.run();
      } catch (RuntimeException e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
