package org.sparkcollectives.examples.benchmark;

import java.io.Serializable;
import java.time.Duration;
import java.util.Locale;
import java.util.stream.LongStream;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;

/**
 * The plan of a measurement, the same for every rank.
 *
 * @param operation the operation
 * @param dtype the type of the elements
 * @param reduction the reduction, for operations that have one
 * @param root the root, for operations that have one
 * @param memory the memory of the tensors
 * @param minBytes the first size
 * @param maxBytes the limit of the last size
 * @param factor each size divided by the one before
 * @param iterations how many are measured of each size; 0 to go by {@code time}
 * @param time how long each size is measured
 * @param warmup how many iterations come first; negative for enough to let the code be compiled
 * @param check whether the results are checked
 * @param pause how long each rank idles between two calls
 * @param skew how much longer the last rank idles; it calls so much later than the others
 * @param persistent whether the operation is prepared once and started, or called each time
 */
record Plan(
    Operation operation,
    DType dtype,
    ReduceOp.Kind reduction,
    int root,
    MemoryKind memory,
    long minBytes,
    long maxBytes,
    double factor,
    int iterations,
    Duration time,
    int warmup,
    boolean check,
    Duration pause,
    Duration skew,
    boolean persistent)
    implements Serializable {

  /** Returns the counts to measure, each once, in ascending order. */
  long[] counts(int ranks) {
    LongStream.Builder counts = LongStream.builder();
    for (double bytes = minBytes; bytes <= maxBytes; bytes *= factor) {
      counts.add(operation.count((long) bytes / dtype.bytes(), ranks));
    }
    return counts.build().distinct().toArray();
  }

  /**
   * Refuses a plan that cannot be measured on so many ranks.
   *
   * @throws IllegalArgumentException saying which option to change
   */
  void check(int ranks) {
    if (operation.rooted() && root >= ranks) {
      throw new IllegalArgumentException(
          "--root " + root + " is not one of the ranks 0 to " + (ranks - 1));
    }
    if (persistent && !operation.canBePrepared()) {
      throw new IllegalArgumentException(
          "--persistent is for all-reduce, broadcast, all-gather, reduce-scatter and gather, not"
              + " for "
              + operation.label());
    }
    if (measuresWaits() && ranks < 2) {
      throw new IllegalArgumentException("--pause and --skew need 2 ranks or more");
    }
    if (operation == Operation.SEND_RECV && ranks < 2) {
      throw new IllegalArgumentException("send-recv needs 2 ranks or more");
    }
    boolean isSummed = dtype == DType.FLOAT32 || dtype == DType.FLOAT64;
    if (operation == Operation.REPRODUCIBLE_SUM && !(isSummed && reduction == ReduceOp.Kind.SUM)) {
      throw new IllegalArgumentException(
          "reproducible-sum is the --op SUM of --dtype FLOAT32 or FLOAT64");
    }
    if (operation.reduces() && !reduceOp().supports(dtype)) {
      throw new IllegalArgumentException(
          "--op " + reductionLabel() + " cannot be applied to --dtype " + dtype.label());
    }
  }

  /** Returns whether the plan measures how soon the others return once the last rank has called. */
  boolean measuresWaits() {
    return !pause.isZero() || !skew.isZero();
  }

  /** Returns how long a rank idles before each call, in nanoseconds. */
  long pauseNanos(int rank, int ranks) {
    return pause.toNanos() + (rank == ranks - 1 ? skew.toNanos() : 0);
  }

  ReduceOp reduceOp() {
    return switch (reduction) {
      case SUM -> ReduceOp.SUM;
      case AVG -> ReduceOp.AVG;
      case PRODUCT -> ReduceOp.PRODUCT;
      case MIN -> ReduceOp.MIN;
      case MAX -> ReduceOp.MAX;
      case BAND -> ReduceOp.BAND;
      case BOR -> ReduceOp.BOR;
      case BXOR -> ReduceOp.BXOR;
      case PREMUL_SUM -> ReduceOp.premulSum(2);
    };
  }

  String reductionLabel() {
    return reduction.name().toLowerCase(Locale.ROOT);
  }
}
