package org.sparkcollectives.examples.benchmark;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/**
 * The benchmark at each rank: for each size it warms up, runs iterations back to back, and checks a
 * result.
 *
 * <p>The time of an iteration is from the end of the previous one to its own end, on the rank for
 * which that takes longest. There is no barrier between iterations: its time would be included, and
 * it would hide how well operations follow each other.
 *
 * <p>With a pause or a skew the ranks idle between two calls. The time of an iteration is then from
 * the last rank's call to the return of those that waited for it: how soon they wake.
 */
final class RankBenchmark {

  /** Our name in the comparison with others. */
  static final String IMPLEMENTATION = "spark-collectives";

  /** The least number of iterations, however long they take, so that the median means something. */
  private static final int FEWEST_ITERATIONS = 5;

  /** The most iterations, however short they are, because their times are kept. */
  private static final int MOST_ITERATIONS = 1 << 21;

  /**
   * The most iterations in a block. With more, the agreement at its end takes longer than the
   * measured operations.
   */
  private static final int LONGEST_BLOCK = 1 << 16;

  /** The least part of a size's time for which it is warmed up. */
  private static final int WARMUP_SHARE = 5;

  /** The number of calls after which a JVM has compiled the code as well as it can. */
  private static final int COMPILED = 20_000;

  /** The number of calls with pauses before those that are measured. */
  private static final int PAUSES_BEFORE = 20;

  /**
   * The limit of the first warm-up: the first operations take a hundred times as long as later
   * ones.
   */
  private static final long LONGEST_FIRST_WARMUP_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** The limit of later warm-ups: the code that all sizes share is compiled by then. */
  private static final long LONGEST_WARMUP_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The groups for which a rank of this JVM speaks. */
  private static final Set<String> SPOKEN_FOR = ConcurrentHashMap.newKeySet();

  private final ProcessGroup group;
  private final Plan plan;
  private boolean speaks;

  RankBenchmark(ProcessGroup group, Plan plan) {
    plan.check(group.size());
    this.group = group;
    this.plan = plan;
  }

  /** Runs the benchmark. All ranks call this. Rank 0 passes each measurement on when it is done. */
  void run(Consumer<Measurement> results) {
    speaks = SPOKEN_FOR.add(group.name());
    try {
      measureAll(results);
    } finally {
      if (speaks) {
        SPOKEN_FOR.remove(group.name());
      }
    }
  }

  private void measureAll(Consumer<Measurement> results) {
    if (plan.measuresWaits()) {
      requireOneClock();
    }
    long[] counts = plan.counts(group.size());
    long largest = counts[counts.length - 1];
    Tensor input = allocate(plan.operation().inputElements(largest, group.size()));
    Tensor output = allocate(plan.operation().outputElements(largest, group.size()));
    warmUp(new Workload(group, plan, largest, input, output), LONGEST_WARMUP_NANOS);
    warmUp(new Workload(group, plan, counts[0], input, output), LONGEST_FIRST_WARMUP_NANOS);
    for (long count : counts) {
      Measurement measured = measure(new Workload(group, plan, count, input, output), count);
      if (group.rank() == 0) {
        results.accept(measured);
      }
    }
  }

  private Tensor allocate(long count) {
    return count == 0 ? null : plan.memory().allocate(group, plan.dtype(), count);
  }

  private Measurement measure(Workload workload, long count) {
    warmUp(workload, LONGEST_WARMUP_NANOS);
    long before = cpuNanos();
    long[] nanos = times(workload);
    double cpuMicros = sum(cpuNanos() - before) / 1e3 / group.size() / nanos.length;
    return Measurement.of(
        IMPLEMENTATION, plan, group.size(), count, nanos, cpuMicros, wrongElements(workload));
  }

  /** Returns the processor time of this JVM, if this rank speaks for it. */
  private long cpuNanos() {
    return speaks ? ProcessCosts.now().cpuNanos() : 0;
  }

  /** Returns the workload of a count, with tensors of its own. */
  Workload workload(long count) {
    Tensor input = allocate(plan.operation().inputElements(count, group.size()));
    Tensor output = allocate(plan.operation().outputElements(count, group.size()));
    return new Workload(group, plan, count, input, output);
  }

  /** Runs a workload for about some nanoseconds, the same number of times on all ranks. */
  void warmUpFor(Workload workload, long nanos) {
    workload.clear();
    runFor(workload, nanos, 1, Long.MAX_VALUE, false);
  }

  /** Runs a workload as the plan says; returns for each iteration the time of the slowest rank. */
  long[] times(Workload workload) {
    return plan.iterations() > 0
        ? block(workload, plan.iterations())
        : runFor(workload, plan.time().toNanos(), FEWEST_ITERATIONS, Long.MAX_VALUE, true);
  }

  /** Returns the wrong elements of a result on all ranks; null if the plan has no check. */
  Long wrongElements(Workload workload) {
    boolean checked = plan.check() && plan.operation() != Operation.BARRIER;
    return checked ? sum(workload.wrongElements()) : null;
  }

  private void warmUp(Workload workload, long longest) {
    workload.clear();
    if (plan.warmup() >= 0) {
      run(workload, plan.warmup());
    } else {
      long share = plan.time().toNanos() / WARMUP_SHARE;
      runFor(workload, share, COMPILED, Math.max(share, longest), false);
    }
    if (plan.measuresWaits()) {
      runWithPauses(workload, PAUSES_BEFORE);
    }
  }

  /**
   * Runs blocks of more and more iterations. After each block all ranks agree whether to continue:
   * until both {@code fewest} iterations and {@code duration} are over, or {@code longest} is.
   *
   * @param measured whether ranks pause, as the plan says, and the times count
   */
  private long[] runFor(
      Workload workload, long duration, int fewest, long longest, boolean measured) {
    long[] all = {};
    long elapsed = 0;
    for (int block = 1;
        elapsed < longest
            && (all.length < fewest || (elapsed < duration && all.length < MOST_ITERATIONS));
        block = Math.min(2 * block, LONGEST_BLOCK)) {
      long[] nanos = measured ? block(workload, block) : slowest(run(workload, block));
      elapsed += Arrays.stream(nanos).sum() + (measured ? block * longestPause() : 0);
      int done = all.length;
      all = Arrays.copyOf(all, done + block);
      System.arraycopy(nanos, 0, all, done, block);
    }
    return all;
  }

  private static long[] run(Workload workload, int iterations) {
    long[] nanos = new long[iterations];
    long last = System.nanoTime();
    for (int i = 0; i < iterations; i++) {
      workload.run();
      long now = System.nanoTime();
      nanos[i] = now - last;
      last = now;
    }
    return nanos;
  }

  private long[] block(Workload workload, int iterations) {
    return plan.measuresWaits()
        ? runWithPauses(workload, iterations)
        : slowest(run(workload, iterations));
  }

  private long longestPause() {
    return plan.pauseNanos(group.size() - 1, group.size());
  }

  /**
   * Runs iterations with a pause before each call.
   *
   * @return for each iteration the time from the last rank's call to the return of the slowest of
   *     those that had called before, the same on all ranks
   */
  private long[] runWithPauses(Workload workload, int iterations) {
    long pause = plan.pauseNanos(group.rank(), group.size());
    long[] called = new long[iterations];
    long[] returned = new long[iterations];
    for (int i = 0; i < iterations; i++) {
      pause(pause);
      called[i] = System.nanoTime();
      workload.run();
      returned[i] = System.nanoTime();
    }
    long[] last = slowest(called.clone());
    long[] nanos = new long[iterations];
    for (int i = 0; i < iterations; i++) {
      boolean isLast = called[i] == last[i];
      nanos[i] = isLast ? 0 : Math.max(0, returned[i] - last[i]);
    }
    return slowest(nanos);
  }

  private static void pause(long nanos) {
    long end = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  /**
   * Refuses ranks whose clocks count from different moments. On one host, {@link System#nanoTime}
   * is the same clock for all processes, at least on Linux.
   */
  private void requireOneClock() {
    group.barrier().await();
    long[] before = {System.nanoTime()};
    group.allReduce(Tensor.of(before), ReduceOp.MAX).await();
    long[] after = {System.nanoTime()};
    group.allReduce(Tensor.of(after), ReduceOp.MIN).await();
    if (before[0] > after[0]) {
      throw new IllegalStateException(
          "--pause and --skew compare the clocks of ranks, which must be on one host: one rank's"
              + " clock is ahead of another's by "
              + (before[0] - after[0])
              + " ns or more");
    }
  }

  /** Returns for each iteration the time of the slowest rank, the same on all ranks. */
  private long[] slowest(long[] nanos) {
    group.allReduce(Tensor.of(nanos), ReduceOp.MAX).await();
    return nanos;
  }

  private long sum(long value) {
    long[] sum = {value};
    group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
    return sum[0];
  }
}
