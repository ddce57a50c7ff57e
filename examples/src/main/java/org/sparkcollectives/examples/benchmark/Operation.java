package org.sparkcollectives.examples.benchmark;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The operations that can be measured, with the conventions of nccl-tests: which of the tensors
 * determines the size, and the factor by which the bandwidth of the operation is multiplied to get
 * that of the busiest link.
 */
enum Operation {
  ALL_REDUCE(Part.NONE, Part.ONE, true, false),
  /** A {@link org.sparkcollectives.reproducible.ReproducibleSum} of one term of each rank. */
  REPRODUCIBLE_SUM(Part.ONE, Part.ONE, false, false),
  REDUCE(Part.NONE, Part.ONE, true, true),
  BROADCAST(Part.NONE, Part.ONE, false, true),
  ALL_GATHER(Part.ONE, Part.EACH, false, false),
  REDUCE_SCATTER(Part.EACH, Part.ONE, true, false),
  ALL_TO_ALL(Part.EACH, Part.EACH, false, false),
  GATHER(Part.ONE, Part.EACH, false, true),
  SCATTER(Part.EACH, Part.ONE, false, true),
  SEND_RECV(Part.ONE, Part.ONE, false, false),
  BARRIER(Part.NONE, Part.NONE, false, false);

  /** The size of a tensor: nothing, one count, or one for each rank. */
  private enum Part {
    NONE,
    ONE,
    EACH;

    int times(int ranks) {
      return this == NONE ? 0 : this == ONE ? 1 : ranks;
    }
  }

  private final Part input;
  private final Part output;
  private final boolean reduces;
  private final boolean rooted;

  Operation(Part input, Part output, boolean reduces, boolean rooted) {
    this.input = input;
    this.output = output;
    this.reduces = reduces;
    this.rooted = rooted;
  }

  /** Returns the operation of a name, such as {@code all-reduce}. */
  static Operation of(String label) {
    return Arrays.stream(values())
        .filter(each -> each.label().equals(label))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("'" + label + "' is none of " + labels()));
  }

  static String labels() {
    return Arrays.stream(values()).map(Operation::label).collect(Collectors.joining(", "));
  }

  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns whether the operation reduces elements of several ranks to one. */
  boolean reduces() {
    return reduces;
  }

  /** Returns whether the operation has a root. */
  boolean rooted() {
    return rooted;
  }

  /** Returns whether a group can prepare the operation, to start it again and again. */
  boolean canBePrepared() {
    return switch (this) {
      case ALL_REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, GATHER -> true;
      case REPRODUCIBLE_SUM, REDUCE, ALL_TO_ALL, SCATTER, SEND_RECV, BARRIER -> false;
    };
  }

  /** Returns the number of elements of the input; 0 for operations in place. */
  long inputElements(long count, int ranks) {
    return count * input.times(ranks);
  }

  /** Returns the number of elements of the output. */
  long outputElements(long count, int ranks) {
    return count * output.times(ranks);
  }

  /** Returns the number of elements of the larger tensor. */
  long elements(long count, int ranks) {
    return Math.max(inputElements(count, ranks), outputElements(count, ranks));
  }

  /** Returns the count for which {@link #elements} is {@code elements}, or less; at least 1. */
  long count(long elements, int ranks) {
    return this == BARRIER ? 0 : Math.max(1, elements / elements(1, ranks));
  }

  /** Returns the least part of the size's bytes that the busiest link must carry. */
  double busFactor(int ranks) {
    return switch (this) {
      case ALL_REDUCE, REPRODUCIBLE_SUM -> 2.0 * (ranks - 1) / ranks;
      case ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, GATHER, SCATTER -> (ranks - 1.0) / ranks;
      case REDUCE, BROADCAST, SEND_RECV, BARRIER -> 1;
    };
  }
}
