package org.sparkcollectives.symmetric;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.spi.CallCheck;

/**
 * Makes this rank's memory and opens those of all others. If that fails on one rank, it fails on
 * all, and nothing stays mapped.
 */
final class MemoryExchange {

  private final ProcessGroup group;
  private final CallCheck check;
  private final List<RankMemory> opened = new ArrayList<>();
  private SharedMemory own;

  /**
   * Creates the exchange.
   *
   * @param check of the call that makes the memory
   */
  MemoryExchange(ProcessGroup group, CallCheck check) {
    this.group = group;
    this.check = check;
  }

  /**
   * Makes and opens the memories. A collective: all ranks call it with the same size.
   *
   * @param bytes of each, with its flags
   */
  void run(long bytes) {
    boolean done = false;
    try {
      check.byAll(() -> make(bytes));
      List<String> offers =
          group.objects().allGather(HexFormat.of().formatHex(own.nonce()) + own.path());
      check.byAll(() -> open(offers, bytes));
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

  private void make(long bytes) {
    try {
      own = group.allocateShared(bytes);
    } catch (IOException | UnsupportedOperationException e) {
      throw new IllegalStateException("there is no shared memory: " + e.getMessage(), e);
    }
  }

  private void open(List<String> offers, long bytes) {
    for (int rank = 0; rank < offers.size(); rank++) {
      String offer = offers.get(rank);
      int digits = 2 * own.nonce().length;
      String path = offer.substring(digits);
      byte[] nonce = HexFormat.of().parseHex(offer, 0, digits);
      try {
        opened.add(new RankMemory(SharedMemory.open(path, nonce, bytes), path));
      } catch (IOException e) {
        throw new IllegalStateException(
            "the memory of rank "
                + rank
                + " cannot be opened: "
                + e.getClass().getSimpleName()
                + ": "
                + e.getMessage(),
            e);
      }
    }
  }

  private void close() {
    opened.forEach(RankMemory::close);
    if (own != null) {
      own.close();
    }
  }
}
