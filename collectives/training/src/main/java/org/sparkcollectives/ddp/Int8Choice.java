package org.sparkcollectives.ddp;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Finds out, for buckets of each size, whether they are reduced faster as int8: times both in some
 * steps, and takes the shortest times. All ranks choose alike.
 */
final class Int8Choice {

  /** Before, the JVM has not compiled the loops. */
  static final int STEPS = 10;

  /** The share of the plain time that int8 may take: backward passes need the processor, too. */
  private static final double WORTHWHILE = 0.75;

  private record Size(DType type, long count) {}

  /** The times of buckets of a size, in nanoseconds. */
  private static final class Times {
    private long lastStep = -1;
    private int steps;
    private long plain = Long.MAX_VALUE;
    private long compressed = Long.MAX_VALUE;
    private boolean chosen;
    private boolean isFaster;
  }

  private final LongSupplier clock;
  private final Map<Size, Times> sizes = new HashMap<>();

  /**
   * Creates a choice among the ranks of one group.
   *
   * @param clock nanoseconds
   */
  Int8Choice(LongSupplier clock) {
    this.clock = clock;
  }

  private Times times(GradientBucket bucket) {
    Tensor buffer = bucket.buffer();
    return sizes.computeIfAbsent(new Size(buffer.dtype(), buffer.count()), size -> new Times());
  }

  /** Returns whether a bucket is to be measured in this step. */
  boolean isUnknown(GradientBucket bucket) {
    Times times = times(bucket);
    return !times.chosen && (times.steps < STEPS || times.lastStep == bucket.step());
  }

  /**
   * Replaces the gradients by their mean, and times that; before, times the same as int8. Blocks
   * for a few of the group's timeouts at most.
   */
  void measure(GradientBucket bucket, Int8Bucket memory, boolean errorFeedback) {
    Times times = times(bucket);
    if (times.lastStep != bucket.step()) {
      times.lastStep = bucket.step();
      times.steps++;
    }
    ProcessGroup group = bucket.group();
    Tensor buffer = bucket.buffer();
    HostTensor scratch = HostTensor.allocate(buffer.dtype(), buffer.count());
    float[] errors = errorFeedback ? new float[(int) buffer.count()] : null;
    times.compressed =
        Math.min(times.compressed, time(group, () -> memory.rehearse(bucket, scratch, errors)));
    times.plain =
        Math.min(times.plain, time(group, () -> MeanAllReduce.of(bucket).compute(buffer)));
  }

  /** Times what all ranks begin together. */
  private long time(ProcessGroup group, Runnable reduction) {
    group.barrier().await();
    long begin = clock.getAsLong();
    reduction.run();
    return clock.getAsLong() - begin;
  }

  /**
   * Returns whether buckets of this size are faster as int8. The first call for a size is a
   * collective, and blocks for the group's timeout at most.
   */
  boolean isFaster(GradientBucket bucket) {
    Times times = times(bucket);
    if (!times.chosen) {
      // The shortest time of the one, and the longest of the other: in doubt it is not faster.
      long[] agreed = {times.plain, -times.compressed};
      bucket.group().allReduce(Tensor.of(agreed), ReduceOp.MIN).await();
      times.isFaster = -agreed[1] < WORTHWHILE * agreed[0];
      times.chosen = true;
    }
    return times.isFaster;
  }
}
