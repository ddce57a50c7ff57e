package org.sparkcollectives.spark.event;

/**
 * Sums up the operations of a group of one kind, size and algorithm that have succeeded.
 *
 * @param operation the kind, as {@code ALL_REDUCE}
 * @param sizeClass the operations have at least 2<sup>{@code sizeClass}</sup> bytes, and less than
 *     twice as many; -1 for none
 * @param algorithm the name of the algorithm; empty if there is none
 * @param count how many operations, over all ranks
 * @param bytes their bytes, over all ranks
 * @param medianSeconds how long one took in the median
 * @param p99Seconds what 99 % of the operations took at most
 * @param busBytesPerSecond the bus bandwidth as nccl-tests has it
 * @param compared in how many of the operations it was compared when the ranks arrived
 * @param waitedSeconds how long a rank waited in one of these for the rank that arrived last, the
 *     mean of all ranks and operations
 */
public record OperationSums(
    String operation,
    int sizeClass,
    String algorithm,
    long count,
    long bytes,
    double medianSeconds,
    double p99Seconds,
    double busBytesPerSecond,
    long compared,
    double waitedSeconds) {

  static final int MOST_CHARACTERS = 128;

  public OperationSums {
    operation = Bounds.text(operation, MOST_CHARACTERS);
    algorithm = Bounds.text(algorithm, MOST_CHARACTERS);
  }
}
