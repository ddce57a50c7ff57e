package org.sparkcollectives.averaging;

/** Counts steps, some of which come before the first that averages. */
final class StepCounter {

  private final long warmupSteps;
  private long step;

  StepCounter(long warmupSteps) {
    requireWarmup(warmupSteps);
    this.warmupSteps = warmupSteps;
  }

  /** Returns how many steps the present one is after the warm-up; negative within it. */
  long afterWarmup() {
    return step - warmupSteps;
  }

  long step() {
    return step;
  }

  void advance() {
    step++;
  }

  void set(long steps) {
    if (steps < 0) {
      throw new IllegalArgumentException("0 or more steps are counted, not " + steps);
    }
    step = steps;
  }

  static void requireWarmup(long steps) {
    if (steps < 0) {
      throw new IllegalArgumentException("A warm-up has 0 or more steps, not " + steps);
    }
  }

  static void requirePeriod(long period) {
    if (period < 1) {
      throw new IllegalArgumentException("A period has 1 or more steps, not " + period);
    }
  }
}
