package org.sparkcollectives.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * One fault in one phase at one moment. It follows from a seed and a number, so that every process
 * knows it.
 *
 * @param size the number of ranks
 * @param victim the rank that it happens to
 * @param moment when, from the beginning of the phase
 * @param sharedMemory whether ranks use shared memory; else TCP alone
 * @param variant decides what else may be one way or the other
 */
record FaultCase(
    long seed,
    int number,
    Fault fault,
    Phase phase,
    int size,
    int victim,
    Duration moment,
    boolean sharedMemory,
    int variant) {

  private static final List<Fault> FAULTS = List.of(Fault.values());
  private static final List<Phase> PHASES = List.of(Phase.values());

  /**
   * The factor that spreads seeds: seeds that are near each other would begin with the same
   * numbers.
   */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  /** The number of cases until each fault has come in each phase. */
  static final int ROUND = FAULTS.size() * PHASES.size();

  /** Returns the case of that number, in the row that follows from {@code seed}. */
  static FaultCase of(long seed, int number) {
    List<Integer> order = new ArrayList<>(IntStream.range(0, ROUND).boxed().toList());
    Collections.shuffle(order, new Random(seed + number / ROUND));
    int combination = order.get(number % ROUND);
    Fault fault = FAULTS.get(combination % FAULTS.size());
    Phase phase = PHASES.get(combination / FAULTS.size());
    Random random = new Random((seed * ROUND + number) * SPREAD);
    int size = 3 + random.nextInt(2);
    return new FaultCase(
        seed,
        number,
        fault,
        phase,
        size,
        random.nextInt(size),
        Duration.ofNanos((long) (random.nextDouble() * phase.window().toNanos())),
        random.nextBoolean(),
        random.nextInt(8));
  }

  /**
   * Returns whether a thread other than the victim's own aborts the group, as Spark does when a
   * task fails.
   */
  boolean abortsFromAnotherThread() {
    return (variant & 1) == 0;
  }

  /** Returns whether large tensors lie in memory of the group. */
  boolean usesGroupMemory() {
    return sharedMemory && (variant & 2) == 0;
  }

  /** Returns whether the others make a group without the victim from the one that has failed. */
  boolean shrinks() {
    return (variant & 4) == 0 && phase.isEndless() && phase != Phase.RENDEZVOUS;
  }

  /** Returns the paths that may be used. */
  String[] transports() {
    return sharedMemory ? new String[] {"shm", "tcp"} : new String[] {"tcp"};
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "case %d of seed %d: %s of rank %d of %d, %.3f ms into %s, over %s",
        number,
        seed,
        fault.label(),
        victim,
        size,
        moment.toNanos() / 1e6,
        phase.label(),
        String.join(", ", transports()));
  }
}
