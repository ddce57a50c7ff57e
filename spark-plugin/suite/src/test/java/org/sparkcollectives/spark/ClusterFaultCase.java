package org.sparkcollectives.spark;

import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * One fault in one phase at one moment, determined by a seed and a number.
 *
 * @param victim the rank that it happens to
 * @param moment when, counted from the beginning of the phase
 * @param resumes whether an executor that was stopped is resumed afterwards; otherwise it is killed
 */
record ClusterFaultCase(
    long seed,
    int number,
    ClusterFault fault,
    ClusterPhase phase,
    int victim,
    Duration moment,
    boolean resumes)
    implements Serializable {

  /** The number of ranks. */
  static final int SIZE = 4;

  private static final List<ClusterFault> FAULTS = List.of(ClusterFault.values());
  private static final List<ClusterPhase> PHASES = List.of(ClusterPhase.values());

  /** The number of cases after which each fault has come in each phase. */
  static final int ROUND = FAULTS.size() * PHASES.size();

  /** The time from the beginning of the phase within which the fault comes. */
  private static final Duration WINDOW = Duration.ofMillis(60);

  /** Spreads the seeds: seeds that are near each other would begin with the same numbers. */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  /**
   * Returns the case of a number. Each block of as many cases as there are faults has each once.
   */
  static ClusterFaultCase of(long seed, int number) {
    int block = number / FAULTS.size();
    int shift = block % PHASES.size();
    List<ClusterFault> faults = shuffled(FAULTS, seed * SPREAD + block);
    ClusterFault fault = faults.get(number % FAULTS.size());
    // Each fault has its own order of the phases, which continues from block to block.
    List<ClusterPhase> phases =
        shuffled(PHASES, (seed + fault.ordinal() + 1) * SPREAD + number / ROUND);
    Random random = new Random((seed * ROUND + number) * SPREAD);
    return new ClusterFaultCase(
        seed,
        number,
        fault,
        phases.get(shift),
        random.nextInt(SIZE),
        Duration.ofNanos((long) (random.nextDouble() * WINDOW.toNanos())),
        random.nextBoolean());
  }

  private static <T> List<T> shuffled(List<T> all, long seed) {
    List<T> order = new ArrayList<>(all);
    Collections.shuffle(order, new Random(seed));
    return order;
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "case %d of seed %d: %s of rank %d, %.1f ms into %s",
        number,
        seed,
        fault.label(),
        victim,
        moment.toNanos() / 1e6,
        phase.label());
  }
}
