package org.sparkcollectives.group;

/** The steps of an end, of which each is taken whatever becomes of those before it. */
final class ClosingSteps {

  private ClosingSteps() {}

  /** Runs all; throws what the first to fail threw, with what the others threw suppressed. */
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
