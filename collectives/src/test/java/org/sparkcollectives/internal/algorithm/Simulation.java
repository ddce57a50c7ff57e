package org.sparkcollectives.internal.algorithm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;
import org.sparkcollectives.internal.algorithm.SimulatedRank.Kind;

/**
 * What an algorithm does in a group of any size, found by running its code for every rank and
 * following the messages.
 *
 * @param steps the longest chain of messages that wait for each other
 * @param messages the most that a rank sends
 * @param bytes the most that a rank sends
 * @param connections the most peers that a rank meets
 */
record Simulation(long steps, long messages, long bytes, int connections) {

  /** Of an algorithm run by each of {@code size} ranks. */
  static Simulation of(int size, Consumer<SimulatedRank> algorithm) {
    List<SimulatedRank> ranks = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      SimulatedRank each = new SimulatedRank(rank, size);
      algorithm.accept(each);
      ranks.add(each);
    }
    return new Simulation(
        longestChain(ranks),
        ranks.stream().mapToLong(SimulatedRank::messages).max().orElseThrow(),
        ranks.stream().mapToLong(SimulatedRank::bytes).max().orElseThrow(),
        ranks.stream().mapToInt(SimulatedRank::connections).max().orElseThrow());
  }

  /** A message is a step later than what its sender has received before. */
  private static long longestChain(List<SimulatedRank> ranks) {
    long[] clocks = new long[ranks.size()];
    int[] next = new int[ranks.size()];
    Map<Long, Queue<Long>> underWay = new HashMap<>();
    Queue<SimulatedRank> ready = new ArrayDeque<>(ranks);
    while (!ready.isEmpty()) {
      SimulatedRank each = ready.remove();
      int rank = each.rank();
      while (next[rank] < each.length()) {
        int peer = each.peer(next[rank]);
        if (each.kind(next[rank]) == Kind.SEND) {
          way(underWay, rank, peer).add(clocks[rank] + 1);
          SimulatedRank to = ranks.get(peer);
          if (next[peer] < to.length()
              && to.kind(next[peer]) == Kind.RECEIVE
              && to.peer(next[peer]) == rank) {
            ready.add(to);
          }
        } else if (each.kind(next[rank]) == Kind.RECEIVE) {
          Long arrival = way(underWay, peer, rank).poll();
          if (arrival == null) {
            break;
          }
          clocks[rank] = Math.max(clocks[rank], arrival);
        }
        next[rank]++;
      }
    }
    for (SimulatedRank each : ranks) {
      if (next[each.rank()] < each.length()) {
        throw new AssertionError(
            "rank " + each.rank() + " waits in vain for rank " + each.peer(next[each.rank()]));
      }
    }
    if (underWay.values().stream().anyMatch(way -> !way.isEmpty())) {
      throw new AssertionError("messages were sent that nobody received");
    }
    long longest = 0;
    for (long clock : clocks) {
      longest = Math.max(longest, clock);
    }
    return longest;
  }

  private static Queue<Long> way(Map<Long, Queue<Long>> underWay, int from, int to) {
    return underWay.computeIfAbsent(((long) from << 32) | to, key -> new ArrayDeque<>());
  }
}
