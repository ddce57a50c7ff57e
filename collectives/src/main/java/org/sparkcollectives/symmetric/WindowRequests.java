package org.sparkcollectives.symmetric;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * The places in windows that one rank reads or writes on the others, or the others on this one,
 * ordered by the other rank.
 *
 * @param accesses this rank's own, in that order; empty for those of others
 * @param counts how many there are for each rank
 * @param places for each of them its offset and its size in bytes
 */
record WindowRequests(List<WindowAccess> accesses, long[] counts, long[] places) {

  private static final int WORDS = 2;

  /** Moves some bytes between a window and what is sent for it. */
  interface Mover {

    /**
     * Moves them.
     *
     * @param offset where they are in the window
     * @param place where they are in what is sent
     * @param size how many
     */
    void move(int offset, int place, int size);
  }

  /** Returns those of this rank. */
  static WindowRequests of(int ranks, List<WindowAccess> unordered) {
    List<WindowAccess> accesses = new ArrayList<>(unordered);
    // Stable: the puts of one rank stay in their order.
    accesses.sort(Comparator.comparingInt(WindowAccess::rank));
    long[] counts = new long[ranks];
    long[] places = new long[WORDS * accesses.size()];
    for (int i = 0; i < accesses.size(); i++) {
      WindowAccess each = accesses.get(i);
      counts[each.rank()]++;
      places[WORDS * i] = each.offset();
      places[WORDS * i + 1] = each.tensor().byteSize();
    }
    return new WindowRequests(accesses, counts, places);
  }

  /** Tells all ranks of these, and returns those that they have for this one. */
  WindowRequests exchange(ProcessGroup group) {
    long[] theirs = new long[counts.length];
    group.allToAll(Tensor.of(theirs), Tensor.of(counts)).await();
    long[] there = new long[WORDS * (int) LongStream.of(theirs).sum()];
    group.allToAll(Tensor.of(there), Tensor.of(places), words(theirs), words(counts)).await();
    return new WindowRequests(List.of(), theirs, there);
  }

  private static long[] words(long[] counts) {
    return LongStream.of(counts).map(each -> WORDS * each).toArray();
  }

  /** Returns how many bytes they are together. */
  long bytes() {
    return LongStream.of(bytesOfRanks()).sum();
  }

  /** Returns how many bytes are for each rank. */
  long[] bytesOfRanks() {
    long[] bytes = new long[counts.length];
    int next = 0;
    for (int rank = 0; rank < counts.length; rank++) {
      for (long i = 0; i < counts[rank]; i++) {
        bytes[rank] += places[WORDS * next + 1];
        next++;
      }
    }
    return bytes;
  }

  /** Moves each, one after the other. */
  void forEach(Mover mover) {
    int place = 0;
    for (int i = 0; i < places.length; i += WORDS) {
      int size = (int) places[i + 1];
      mover.move((int) places[i], place, size);
      place += size;
    }
  }
}
