package org.sparkcollectives.spark.internal.elastic;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Adds up arrays of partitions in the order of the partitions, whichever ranks have them: what
 * {@code RankOrderSum} does for ranks. Each rank adds up one part of the elements, and gives it to
 * all.
 */
final class PartitionSum {

  private PartitionSum() {}

  /**
   * Returns the one length of a replica's arrays.
   *
   * @throws IllegalArgumentException if they differ in length, or there is not one for each of its
   *     partitions
   */
  static int length(int replica, List<Integer> partitions, List<double[]> own) {
    int length = own.isEmpty() ? 0 : own.get(0).length;
    if (own.size() != partitions.size() || own.stream().anyMatch(each -> each.length != length)) {
      throw new IllegalArgumentException(
          "Replica "
              + replica
              + " has partitions "
              + partitions
              + ", and needs an array of one length for each, not arrays of "
              + own.stream().map(each -> each.length).toList()
              + " numbers");
    }
    return length;
  }

  /**
   * Returns the sum. A collective: called by all ranks, and blocks until this one has all of it.
   *
   * @param owned the partitions of each rank; one or more
   * @param own an array for each partition of this rank, in their order, all of one length
   */
  static double[] of(ProcessGroup group, List<List<Integer>> owned, List<double[]> own) {
    int ranks = group.size();
    int length = own.get(0).length;
    if (ranks == 1) {
      return add(byPartition(owned, List.of(concatenated(own, 0, length))), length);
    }
    List<Tensor> sent = new ArrayList<>();
    List<double[]> received = new ArrayList<>();
    List<double[]> parts = new ArrayList<>();
    int mine = part(length, ranks, group.rank() + 1) - part(length, ranks, group.rank());
    for (int rank = 0; rank < ranks; rank++) {
      int from = part(length, ranks, rank);
      int to = part(length, ranks, rank + 1);
      sent.add(Tensor.of(concatenated(own, from, to)));
      received.add(new double[owned.get(rank).size() * mine]);
      parts.add(new double[to - from]);
    }
    group.allToAll(tensors(received), sent).await();
    group.allGather(tensors(parts), Tensor.of(add(byPartition(owned, received), mine))).await();
    return concatenated(parts);
  }

  /** Returns where the part of a rank begins. */
  private static int part(int length, int ranks, int rank) {
    return (int) ((long) length * rank / ranks);
  }

  private static double[] concatenated(List<double[]> arrays, int from, int to) {
    double[] all = new double[arrays.size() * (to - from)];
    for (int i = 0; i < arrays.size(); i++) {
      System.arraycopy(arrays.get(i), from, all, i * (to - from), to - from);
    }
    return all;
  }

  private static double[] concatenated(List<double[]> parts) {
    double[] all = new double[parts.stream().mapToInt(each -> each.length).sum()];
    int at = 0;
    for (double[] each : parts) {
      System.arraycopy(each, 0, all, at, each.length);
      at += each.length;
    }
    return all;
  }

  /** The elements of a partition among those of all that its rank has. */
  private record Place(double[] elements, int index) {}

  private static Iterator<Place> byPartition(List<List<Integer>> owned, List<double[]> elements) {
    Map<Integer, Place> places = new TreeMap<>();
    for (int rank = 0; rank < owned.size(); rank++) {
      for (int i = 0; i < owned.get(rank).size(); i++) {
        places.put(owned.get(rank).get(i), new Place(elements.get(rank), i));
      }
    }
    return places.values().iterator();
  }

  /** Returns the sum of some partitions, the first of which may be a negative zero. */
  private static double[] add(Iterator<Place> places, int length) {
    Place first = places.next();
    double[] sum = new double[length];
    System.arraycopy(first.elements, first.index * length, sum, 0, length);
    while (places.hasNext()) {
      Place next = places.next();
      for (int i = 0; i < length; i++) {
        sum[i] += next.elements[next.index * length + i];
      }
    }
    return sum;
  }

  private static List<Tensor> tensors(List<double[]> arrays) {
    return arrays.stream().map(Tensor::of).toList();
  }
}
