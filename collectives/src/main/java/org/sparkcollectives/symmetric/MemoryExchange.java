package org.sparkcollectives.symmetric;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SharedMemory;

/**
 * Makes this rank's memory and opens those of all others. If that fails on one rank, it fails on
 * all, and nothing stays mapped.
 */
final class MemoryExchange {

  private static final String OFFER = "memory ";
  private static final String NONE = "no shared memory: ";

  private final ProcessGroup group;
  private final List<RankMemory> opened = new ArrayList<>();
  private SharedMemory own;

  MemoryExchange(ProcessGroup group) {
    this.group = group;
  }

  /**
   * Makes and opens the memories.
   *
   * @param bytes of each, with its flags
   * @param request what this rank asks for, the same on all ranks
   * @param refusal why this rank refuses its own arguments; null if it does not
   */
  void run(long bytes, String request, String refusal) {
    boolean done = false;
    try {
      List<String> offers = group.objects().allGather(offer(bytes, request, refusal));
      agree(offers);
      List<String> failures = group.objects().allGather(open(offers, bytes));
      for (int rank = 0; rank < failures.size(); rank++) {
        if (!failures.get(rank).isEmpty()) {
          throw refused("rank " + rank + " cannot open it: " + failures.get(rank));
        }
      }
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  /** Returns the memories of all ranks, this one's among them, each mapped apart from the group. */
  List<RankMemory> opened() {
    return List.copyOf(opened);
  }

  /** Returns the memory that this rank has made, which the group's collectives know. */
  SharedMemory own() {
    return own;
  }

  private String offer(long bytes, String request, String refusal) {
    if (refusal != null) {
      return refusal;
    }
    try {
      own = group.allocateShared(bytes);
      return OFFER + request + "\n" + own.path() + "\n" + HexFormat.of().formatHex(own.nonce());
    } catch (IOException | UnsupportedOperationException e) {
      return NONE + e.getMessage();
    }
  }

  private void agree(List<String> offers) {
    for (int rank = 0; rank < offers.size(); rank++) {
      String offer = offers.get(rank);
      if (!offer.startsWith(OFFER)) {
        String what = "rank " + rank + " has " + offer;
        throw offer.startsWith(NONE) ? refused(what) : new IllegalArgumentException(where(what));
      }
    }
    String first = requestOf(offers.get(0));
    for (int rank = 1; rank < offers.size(); rank++) {
      String request = requestOf(offers.get(rank));
      if (!request.equals(first)) {
        throw new IllegalArgumentException(
            where(
                "rank "
                    + rank
                    + " asks for "
                    + request
                    + ", and rank 0 for "
                    + first
                    + "; all must ask for the same"));
      }
    }
  }

  private static String requestOf(String offer) {
    return offer.substring(OFFER.length(), offer.indexOf('\n'));
  }

  /** Opens what all ranks offer; returns why that failed, or nothing. */
  private String open(List<String> offers, long bytes) {
    for (String offer : offers) {
      String[] lines = offer.split("\n", -1);
      try {
        SharedMemory memory = SharedMemory.open(lines[1], HexFormat.of().parseHex(lines[2]), bytes);
        opened.add(new RankMemory(memory, lines[1]));
      } catch (IOException e) {
        return e.getClass().getSimpleName() + ": " + e.getMessage();
      }
    }
    return "";
  }

  private IllegalStateException refused(String what) {
    return new IllegalStateException(where(what));
  }

  private String where(String what) {
    return "symmetric memory of group \""
        + group.name()
        + "\" on rank "
        + group.rank()
        + " of "
        + group.size()
        + ": "
        + what;
  }

  private void close() {
    opened.forEach(RankMemory::close);
    if (own != null) {
      own.close();
    }
  }
}
