package org.sparkcollectives.examples.digits;

import java.util.Arrays;

/** The durations of steps, and of their reductions. */
final class StepTimes {

  private final long[] steps;
  private final long[] reductions;
  private int count;
  private long begun;
  private long reductionBegun;

  StepTimes(int capacity) {
    steps = new long[capacity];
    reductions = new long[capacity];
  }

  void begin() {
    begun = System.nanoTime();
  }

  void beginReduction() {
    reductionBegun = System.nanoTime();
  }

  void endReduction() {
    reductions[count] = System.nanoTime() - reductionBegun;
  }

  void end() {
    steps[count++] = System.nanoTime() - begun;
  }

  int count() {
    return count;
  }

  double medianMillis() {
    return median(steps);
  }

  double medianReductionMillis() {
    return median(reductions);
  }

  private double median(long[] nanos) {
    long[] sorted = Arrays.copyOf(nanos, count);
    Arrays.sort(sorted);
    return count == 0 ? 0 : sorted[count / 2] / 1e6;
  }
}
