package org.sparkcollectives.spark.iteration;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.PersistentCollective;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Adds up arrays of all ranks at rank 0, each element in the order of the ranks.
 *
 * <p>A reduce of the group would not do: its algorithm, and with it the order of the additions,
 * depends on which ranks share a JVM or a host. Here ranks that are placed elsewhere, as after the
 * loss of an executor, get the same bits. Only the operations that move data without adding are
 * used. {@link org.sparkcollectives.spark.IterativeStage} adds up contributions with it.
 *
 * <p>All ranks create a sum of the same length and call {@link #reduce} equally often, as for any
 * collective. An object is for one thread.
 *
 * <p>Steps: 1 for little data, which rank 0 adds up by itself; else 2. Bytes sent by each rank but
 * the root: the array.
 */
public final class RankOrderSum {

  /** The bytes of all ranks that rank 0 adds up faster than ranks can divide the work. */
  private static final long LARGEST_ALONE_BYTES = 256 << 10;

  private final ProcessGroup group;
  private final int length;
  private final boolean alone;

  /** The arrays of all ranks at rank 0, if that adds alone; elsewhere none. */
  private final List<double[]> gathered;

  /** This rank's array on its way to rank 0, if that adds alone. */
  private final double[] sent;

  /** Brings the one to the other; null in a group of one rank, or if rank 0 does not add alone. */
  private final PersistentCollective gather;

  /**
   * Creates a sum. Nothing is sent. Where rank 0 adds up by itself, this takes the memory of an
   * array, at rank 0 of one for each rank, until the object is no longer reachable.
   *
   * @param group whose ranks add up
   * @param length the number of elements of each rank's array, the same at all ranks
   */
  public RankOrderSum(ProcessGroup group, int length) {
    this.group = group;
    this.length = length;
    this.alone = (long) length * Double.BYTES * group.size() <= LARGEST_ALONE_BYTES;
    boolean gathers = alone && group.size() > 1;
    this.gathered = gathers && isRoot() ? arrays(length) : List.of();
    this.sent = new double[gathers ? length : 0];
    this.gather = gathers ? group.gatherInit(tensors(gathered), Tensor.of(sent), 0) : null;
  }

  /**
   * Returns the sum at rank 0, in a new array; elsewhere an empty one. Blocks until this rank's
   * part is done, for the group's timeout at most.
   *
   * @param own this rank's array; it is only read
   * @throws IllegalArgumentException if the array has another length than the sum; nothing is sent
   * @throws CollectiveException if another rank fails, does not come in time, or has another length
   */
  public double[] reduce(double[] own) {
    if (own.length != length) {
      throw new IllegalArgumentException(
          "rank "
              + group.rank()
              + " gave "
              + own.length
              + " elements to a sum of "
              + length
              + ": give each rank's sum its length");
    }
    if (group.size() == 1) {
      return own.clone();
    }
    return alone ? addAtRoot(own) : addInParts(own);
  }

  private boolean isRoot() {
    return group.rank() == 0;
  }

  private double[] addAtRoot(double[] own) {
    System.arraycopy(own, 0, sent, 0, length);
    gather.start().await();
    return isRoot() ? sum(gathered) : new double[0];
  }

  private double[] addInParts(double[] own) {
    List<Tensor> given = parts(Tensor.of(own));
    List<double[]> received = arrays((int) given.get(group.rank()).count());
    group.allToAll(tensors(received), given).await();
    double[] part = sum(received);
    double[] result = new double[isRoot() ? length : 0];
    group.gather(isRoot() ? parts(Tensor.of(result)) : List.of(), Tensor.of(part), 0).await();
    return result;
  }

  /** Returns one array for each rank. */
  private List<double[]> arrays(int count) {
    List<double[]> arrays = new ArrayList<>(group.size());
    for (int rank = 0; rank < group.size(); rank++) {
      arrays.add(new double[count]);
    }
    return arrays;
  }

  /** Returns the part of a tensor that each rank adds up. */
  private List<Tensor> parts(Tensor whole) {
    int ranks = group.size();
    List<Tensor> parts = new ArrayList<>(ranks);
    for (int rank = 0; rank < ranks; rank++) {
      long from = (long) length * rank / ranks;
      parts.add(whole.slice(from, (long) length * (rank + 1) / ranks - from));
    }
    return parts;
  }

  private static List<Tensor> tensors(List<double[]> arrays) {
    return arrays.stream().map(Tensor::of).toList();
  }

  /** Returns a new array with the sum of all, added in their order. */
  private static double[] sum(List<double[]> arrays) {
    double[] sum = arrays.get(0).clone();
    for (double[] each : arrays.subList(1, arrays.size())) {
      for (int i = 0; i < sum.length; i++) {
        sum[i] += each[i];
      }
    }
    return sum;
  }
}
