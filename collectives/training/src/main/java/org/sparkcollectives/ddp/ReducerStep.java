package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The marks of one step: which parameters are ready, in which order, and what has gone wrong. May
 * be used by any number of threads.
 */
final class ReducerStep {

  private static final int EXPECTED = 0;
  private static final int USED = 1;
  private static final int UNUSED = 2;

  private final long number;
  private final boolean synchronises;
  private final GradientMean mean;
  private final AtomicIntegerArray marks;
  private final int[] order;
  private final AtomicInteger ready = new AtomicInteger();
  private final AtomicReference<String> fault = new AtomicReference<>();

  /**
   * Creates a step without marks.
   *
   * @param mean null if it does not synchronise
   */
  ReducerStep(long number, int parameters, GradientMean mean) {
    this.number = number;
    this.synchronises = mean != null;
    this.mean = mean;
    this.marks = new AtomicIntegerArray(parameters);
    this.order = new int[parameters];
  }

  long number() {
    return number;
  }

  boolean synchronises() {
    return synchronises;
  }

  GradientMean mean() {
    return mean;
  }

  /** Marks a parameter as used. Returns false if it has a mark already. */
  boolean markUsed(int parameter) {
    if (!marks.compareAndSet(parameter, EXPECTED, USED)) {
      return false;
    }
    order[ready.getAndIncrement()] = parameter;
    return true;
  }

  /** Marks a parameter as unused. Returns false if it has a mark already. */
  boolean markUnused(int parameter) {
    return marks.compareAndSet(parameter, EXPECTED, UNUSED);
  }

  boolean isUnused(int parameter) {
    return marks.get(parameter) == UNUSED;
  }

  /** Returns the parameters without a mark. */
  BitSet missing() {
    return with(EXPECTED);
  }

  /** Returns the parameters that are marked as used. */
  BitSet used() {
    return with(USED);
  }

  private BitSet with(int mark) {
    BitSet set = new BitSet(marks.length());
    for (int i = 0; i < marks.length(); i++) {
      if (marks.get(i) == mark) {
        set.set(i);
      }
    }
    return set;
  }

  /** Returns the used parameters in the order in which they were marked. */
  int[] readyOrder() {
    return Arrays.copyOf(order, ready.get());
  }

  /** Notes why this rank cannot finish the step; the first reason counts. */
  void fail(String reason) {
    fault.compareAndSet(null, reason);
  }

  /** Returns why this rank cannot finish the step; null if it can. */
  String fault() {
    return fault.get();
  }
}
