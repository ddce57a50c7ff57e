package org.sparkcollectives.zero;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Says which rank owns which parameter of a model: keeps its optimizer's state, and makes its
 * steps. Immutable.
 */
public final class ZeroPartition {

  private final int[] owners;
  private final int ranks;

  private ZeroPartition(int[] owners, int ranks) {
    this.owners = owners;
    this.ranks = ranks;
  }

  /**
   * Returns the partition in which parameter {@code i} belongs to rank {@code owners[i]}.
   *
   * @throws IllegalArgumentException if there is no such rank
   */
  public static ZeroPartition of(int[] owners, int ranks) {
    requireRanks(ranks);
    for (int i = 0; i < owners.length; i++) {
      if (owners[i] < 0 || owners[i] >= ranks) {
        throw new IllegalArgumentException(
            "Parameter " + i + " cannot belong to rank " + owners[i] + " of " + ranks);
      }
    }
    return new ZeroPartition(owners.clone(), ranks);
  }

  /**
   * Returns the partition of parameters that loads the ranks evenly, as c10d's {@code
   * ZeroRedundancyOptimizer} makes it: the largest parameter first, each to the rank with the
   * fewest elements so far, and to the lowest of those.
   *
   * @param counts the elements of each parameter
   * @throws IllegalArgumentException if a count is negative, or there is no rank
   */
  public static ZeroPartition greedy(long[] counts, int ranks) {
    return greedy(List.of(counts), ranks);
  }

  /**
   * Returns the partition of several groups of parameters, one group after the other, each as
   * {@link #greedy(long[], int)} does. The elements of earlier groups count.
   *
   * @param groups the elements of each parameter; positions go on from one group to the next
   * @throws IllegalArgumentException if a count is negative, or there is no rank
   */
  public static ZeroPartition greedy(List<long[]> groups, int ranks) {
    requireRanks(ranks);
    int[] owners = new int[groups.stream().mapToInt(each -> each.length).sum()];
    long[] loads = new long[ranks];
    int offset = 0;
    for (long[] counts : groups) {
      for (int i : largestFirst(counts)) {
        int least = leastLoaded(loads);
        owners[offset + i] = least;
        loads[least] += counts[i];
      }
      offset += counts.length;
    }
    return new ZeroPartition(owners, ranks);
  }

  private static int[] largestFirst(long[] counts) {
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] < 0) {
        throw new IllegalArgumentException(
            "Parameter " + i + " cannot have " + counts[i] + " elements");
      }
    }
    return IntStream.range(0, counts.length)
        .boxed()
        .sorted(Comparator.comparingLong(i -> -counts[i]))
        .mapToInt(i -> i)
        .toArray();
  }

  private static int leastLoaded(long[] loads) {
    int least = 0;
    for (int rank = 1; rank < loads.length; rank++) {
      if (loads[rank] < loads[least]) {
        least = rank;
      }
    }
    return least;
  }

  private static void requireRanks(int ranks) {
    if (ranks < 1) {
      throw new IllegalArgumentException("There must be at least one rank, not " + ranks);
    }
  }

  /** Returns the number of ranks. */
  public int ranks() {
    return ranks;
  }

  /** Returns the number of parameters. */
  public int parameters() {
    return owners.length;
  }

  /** Returns the rank that owns a parameter. */
  public int owner(int parameter) {
    return owners[parameter];
  }

  /** Returns the parameters that a rank owns, in ascending order; a rank may own none. */
  public int[] ownedBy(int rank) {
    return IntStream.range(0, owners.length).filter(i -> owners[i] == rank).toArray();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ZeroPartition that
        && ranks == that.ranks
        && Arrays.equals(owners, that.owners);
  }

  @Override
  public int hashCode() {
    return 31 * ranks + Arrays.hashCode(owners);
  }

  @Override
  public String toString() {
    return "owners " + Arrays.toString(owners) + " of " + ranks + " ranks";
  }
}
