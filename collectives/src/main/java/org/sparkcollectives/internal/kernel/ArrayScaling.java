package org.sparkcollectives.internal.kernel;

/** A multiplication or division of every slot of a range by one number. */
@FunctionalInterface
interface ArrayScaling<A> {

  /** Scales the slots {@code from} (inclusive) to {@code to} (exclusive). */
  void scale(A array, int from, int to, double operand);
}
