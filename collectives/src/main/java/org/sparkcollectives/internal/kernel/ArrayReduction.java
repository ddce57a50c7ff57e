package org.sparkcollectives.internal.kernel;

/**
 * A reduction of two arrays, slot by slot: {@code accumulator[i] = accumulator[i] op source[i]}.
 *
 * <p>Each is a loop of its own that indexes both arrays alike, the form that HotSpot turns into
 * vector instructions. The call through this interface is paid once for a whole range.
 */
@FunctionalInterface
interface ArrayReduction<A> {

  /** Reduces the slots {@code from} (inclusive) to {@code to} (exclusive). */
  void reduce(A accumulator, A source, int from, int to);
}
