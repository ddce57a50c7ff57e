package org.sparkcollectives.ddp;

import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/** Compares the options and the counts of a {@link PowerSgd} over the ranks of a group. */
final class PowerSgdAgreement {

  private static final String[] NAMES = {
    "rank",
    "start",
    "minCompressionRate",
    "errorFeedback",
    "warmStart",
    "epsilon",
    "seed",
    "batched",
    "number of steps",
    "number of draws"
  };

  private static final int ITERATION = 8;
  private static final int DRAWS = 9;

  private final long[] all;

  private PowerSgdAgreement(long[] all) {
    this.all = all;
  }

  /** Gathers what all ranks have; blocks for the group's timeout at most. */
  static PowerSgdAgreement gather(
      ProcessGroup group, PowerSgdOptions options, long iteration, long draws) {
    long[] own = {
      options.rank(),
      options.start(),
      Double.doubleToLongBits(options.minCompressionRate()),
      options.errorFeedback() ? 1 : 0,
      options.warmStart() ? 1 : 0,
      Double.doubleToLongBits(options.epsilon()),
      options.seed(),
      options.batched() ? 1 : 0,
      iteration,
      draws
    };
    long[] all = new long[own.length * group.size()];
    group.allGather(Tensor.of(all), Tensor.of(own)).await();
    return new PowerSgdAgreement(all);
  }

  /**
   * Refuses options that differ.
   *
   * @param counts whether the counts must be equal, too
   * @throws IllegalStateException on all ranks, naming the first difference
   */
  void check(boolean counts) {
    for (int i = 0; i < all.length; i++) {
      int what = i % NAMES.length;
      if (all[i] != all[what] && (counts || what < ITERATION)) {
        throw new IllegalStateException(
            "PowerSGD needs the same options, and state of the same step, on all ranks: "
                + NAMES[what]
                + " is "
                + text(what, all[what])
                + " on rank 0, and "
                + text(what, all[i])
                + " on rank "
                + i / NAMES.length);
      }
    }
  }

  private static String text(int what, long value) {
    return switch (NAMES[what]) {
      case "minCompressionRate", "epsilon" -> String.valueOf(Double.longBitsToDouble(value));
      case "errorFeedback", "warmStart", "batched" -> String.valueOf(value != 0);
      default -> String.valueOf(value);
    };
  }

  /** Returns the number of steps of the rank that has had the most. */
  long iteration() {
    return largest(ITERATION);
  }

  /** Returns the number of draws of the rank that has made the most. */
  long draws() {
    return largest(DRAWS);
  }

  private long largest(int what) {
    long largest = all[what];
    for (int i = what; i < all.length; i += NAMES.length) {
      largest = Math.max(largest, all[i]);
    }
    return largest;
  }
}
