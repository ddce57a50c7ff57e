package org.sparkcollectives.faults;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/** Runs the operations of a phase. A wrong result ends it, too. */
final class PhaseWork {

  /** The name of the checkpoint that is the same on all ranks. */
  static final String REPLICATED = "replicated";

  private static final int SMALL = 64;
  private static final int LARGE = 1 << 20;

  private final FaultCase fault;
  private final ProcessGroup group;
  private final float[] ones = new float[LARGE];
  private final float[] result = new float[LARGE];
  private final Tensor large;
  private long round;

  PhaseWork(FaultCase fault, ProcessGroup group) {
    this.fault = fault;
    this.group = group;
    this.large = fault.usesGroupMemory() ? group.allocate(DType.FLOAT32, LARGE) : Tensor.of(result);
    Arrays.fill(ones, 1);
  }

  /** Connects all ranks, and waits until they have come here. */
  void warmUp() {
    for (int i = 0; i < 3; i++) {
      allReduce(SMALL);
      allReduce(LARGE);
    }
    checkpoint();
    group.barrier().await();
  }

  /** Runs until an exception. */
  void forEver() {
    while (true) {
      step();
    }
  }

  /** Runs for {@code time}, or until an exception. */
  void during(Duration time) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < time.toNanos()) {
      step();
    }
  }

  private void step() {
    switch (fault.phase()) {
      case LARGE_ALL_REDUCE -> allReduce(LARGE);
      case BARRIER -> group.barrier().await();
      case CHECKPOINT -> checkpoint();
      default -> allReduce(SMALL);
    }
  }

  /** Reduces ones of all ranks. */
  private void allReduce(int count) {
    Tensor tensor = large.slice(0, count);
    tensor.copyFrom(count == LARGE ? ones : Arrays.copyOf(ones, count));
    group.allReduce(tensor, ReduceOp.SUM).await();
    float[] sum = new float[1];
    for (long at : new long[] {0, count / 2, count - 1}) {
      tensor.slice(at, 1).copyTo(sum);
      if (sum[0] != group.size()) {
        throw new IllegalStateException(
            "element " + at + " of " + count + " is " + sum[0] + ", not " + group.size());
      }
    }
  }

  Work beginLargeAllReduce() {
    large.copyFrom(ones);
    return group.allReduce(large, ReduceOp.SUM);
  }

  private void checkpoint() {
    round++;
    group.checkpoint("own", List.of(Tensor.of(new long[1_000])));
    group.checkpointReplicated(REPLICATED, List.of(Tensor.of(round, round)));
  }
}
