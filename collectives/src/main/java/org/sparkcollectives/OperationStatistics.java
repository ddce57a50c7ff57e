package org.sparkcollectives;

import java.io.Serializable;

/**
 * Sums up the operations of one kind, size and algorithm that have succeeded on a rank of a group.
 *
 * @param operation the operation; {@link OpType#UNKNOWN} sums up what no row was left for
 * @param sizeClass the operations have at least 2<sup>{@code sizeClass}</sup> bytes, and less than
 *     twice as many; -1 if they have none, or if the row sums up what no row was left for
 * @param algorithm the name of the algorithm as {@link ProcessGroup#explain} has it; the name of
 *     the backend if it carries out its operations by itself; empty for messages
 * @param count how many operations
 * @param bytes their bytes; those of one operation are the larger of what this rank gave and got
 * @param seconds how long they took, each from its start on this rank to its end
 * @param medianSeconds how long one took in the median, which is exact to 7 %
 * @param p99Seconds what 99 % of the operations took at most, exact to 7 %
 */
public record OperationStatistics(
    OpType operation,
    int sizeClass,
    String algorithm,
    long count,
    long bytes,
    double seconds,
    double medianSeconds,
    double p99Seconds)
    implements Serializable {

  /** Returns the smallest number of bytes of an operation in this row. */
  public long fromBytes() {
    return sizeClass < 0 ? 0 : 1L << sizeClass;
  }

  /**
   * Returns the bus bandwidth in bytes per second, from the mean size and the median time: the
   * bytes that each rank must send at least, over the time, as nccl-tests has it. It does not
   * depend on the number of ranks where the links are the bottleneck. 0 where there are no bytes.
   *
   * @param ranks the size of the group
   */
  public double busBandwidth(int ranks) {
    if (count == 0 || medianSeconds <= 0) {
      return 0;
    }
    double factor =
        switch (operation) {
          case ALL_REDUCE, ALL_REDUCE_COALESCED, ALL_REDUCE_SPARSE -> 2.0 * (ranks - 1) / ranks;
          case ALL_GATHER,
              ALL_GATHER_INTO,
              ALL_GATHER_COALESCED,
              REDUCE_SCATTER,
              REDUCE_SCATTER_INTO,
              REDUCE_SCATTER_COALESCED,
              GATHER,
              SCATTER,
              ALL_TO_ALL,
              ALL_TO_ALL_INTO ->
              (ranks - 1.0) / ranks;
          default -> 1;
        };
    return factor * bytes / count / medianSeconds;
  }
}
