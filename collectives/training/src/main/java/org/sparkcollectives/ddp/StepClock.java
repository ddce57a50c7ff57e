package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;

/** Takes the times of sampled steps, and sums them up. Marks may come from any thread. */
final class StepClock {

  /** How many steps at the beginning are all sampled. */
  private static final int FIRST_STEPS = 10;

  private final LongSupplier nanos;
  private final int every;
  private volatile boolean sampling;
  private long forward;
  private long backward;
  private volatile long marked;
  private volatile long communication;
  private long samples;
  private long sampledStep;
  private List<Integer> order = List.of();
  private String error = "";
  private ReducerStatistics.Times last = ReducerStatistics.Times.NONE;
  private ReducerStatistics.Times mean = ReducerStatistics.Times.NONE;

  StepClock(LongSupplier nanos, int every) {
    this.nanos = nanos;
    this.every = every;
  }

  /**
   * Notes the beginning of a forward pass.
   *
   * @param step the number of the step, from 1
   */
  void forwardBegins(long step) {
    sampling = step <= FIRST_STEPS || step % every == 0;
    if (sampling) {
      forward = nanos.getAsLong();
    }
  }

  void backwardBegins(boolean synchronises) {
    sampling &= synchronises;
    if (sampling) {
      backward = nanos.getAsLong();
      marked = backward;
    }
  }

  void gradientIsReady() {
    if (sampling) {
      marked = nanos.getAsLong();
    }
  }

  void communicationBegins() {
    if (sampling) {
      communication = nanos.getAsLong();
    }
  }

  /** Notes the end of a step, and in which order its parameters were marked. */
  void stepEnds(long step, int[] readyOrder) {
    if (!sampling) {
      return;
    }
    long end = nanos.getAsLong();
    last =
        new ReducerStatistics.Times(
            backward - forward,
            marked - backward,
            end - communication,
            Math.max(0, marked - communication));
    mean = mean.with(last, samples);
    samples++;
    sampledStep = step;
    order = Arrays.stream(readyOrder).boxed().toList();
    sampling = false;
  }

  void stepFails(String reason) {
    error = reason;
    sampling = false;
  }

  ReducerStatistics statistics(long steps, List<ReducerBucket> buckets, boolean rebuilt) {
    return new ReducerStatistics(
        steps,
        sampledStep,
        buckets.stream().map(each -> each.isSparse() ? 0 : each.reduced().byteSize()).toList(),
        buckets.stream().map(each -> Arrays.stream(each.parameters()).boxed().toList()).toList(),
        rebuilt,
        order,
        last,
        mean,
        error);
  }
}
