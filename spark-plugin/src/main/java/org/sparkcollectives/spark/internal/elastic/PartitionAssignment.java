package org.sparkcollectives.spark.internal.elastic;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.sparkcollectives.spark.elastic.LostRows;

/**
 * Decides which replica of a quorum has which partitions of the rows. It depends on the members
 * alone, so all replicas come to the same result.
 *
 * <p>A member has its own partition. The others go to members by rendezvous hashing: each partition
 * ranks the members by a hash of both, and takes the first that has not its share yet. So a change
 * of the members moves few partitions of the others.
 *
 * @param lostRows whether replicas have partitions of others
 * @param partitions how many there are, which is the number of replicas
 */
record PartitionAssignment(LostRows lostRows, int partitions) {

  /**
   * Returns the partitions of each member, ascending.
   *
   * @param members the numbers of the replicas, in the order of their ranks
   */
  List<List<Integer>> of(List<Integer> members) {
    Map<Integer, List<Integer>> taken = new TreeMap<>();
    if (lostRows == LostRows.TAKE_OVER) {
      takeOver(members).forEach((partition, by) -> add(taken, by, partition));
    }
    members.forEach(each -> add(taken, each, each));
    return members.stream().map(each -> taken.get(each).stream().sorted().toList()).toList();
  }

  private static void add(Map<Integer, List<Integer>> taken, int member, int partition) {
    taken.computeIfAbsent(member, any -> new ArrayList<>()).add(partition);
  }

  /** Returns the member that takes over each partition whose replica is away. */
  private Map<Integer, Integer> takeOver(List<Integer> members) {
    Set<Integer> present = new HashSet<>(members);
    List<Integer> lost =
        IntStream.range(0, partitions).filter(each -> !present.contains(each)).boxed().toList();
    int share = (lost.size() + members.size() - 1) / members.size();
    Map<Integer, Integer> loads = new HashMap<>();
    Map<Integer, Integer> by = new TreeMap<>();
    for (int partition : lost) {
      int best = -1;
      for (int member : members) {
        if (loads.getOrDefault(member, 0) < share
            && (best < 0 || hash(partition, member) > hash(partition, best))) {
          best = member;
        }
      }
      loads.merge(best, 1, Integer::sum);
      by.put(partition, best);
    }
    return by;
  }

  /** Returns a number that looks drawn: the finalizer of SplitMix64. */
  private static long hash(int partition, int member) {
    long bits = ((long) partition << Integer.SIZE | member) + 0x9e3779b97f4a7c15L;
    bits = (bits ^ bits >>> 30) * 0xbf58476d1ce4e5b9L;
    bits = (bits ^ bits >>> 27) * 0x94d049bb133111ebL;
    return bits ^ bits >>> 31;
  }
}
