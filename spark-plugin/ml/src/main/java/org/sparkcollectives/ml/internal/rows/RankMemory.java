package org.sparkcollectives.ml.internal.rows;

import java.util.Optional;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/** Compares what ranks are about to hold in their heaps with what they may hold. */
public final class RankMemory {

  private RankMemory() {}

  /**
   * Returns why the fit cannot go on, with the arithmetic; the same on all ranks, and empty if it
   * can. A collective: called by all ranks.
   *
   * @param what takes the memory, as in "... of rank 1 take more than"
   * @param bytes that this rank needs
   * @param capacity the most bytes that this rank may hold, see {@link HeapShare}
   */
  public static Optional<String> shortage(
      ProcessGroup world, String what, long bytes, long capacity) {
    long[] all = new long[2 * world.size()];
    world.allGather(Tensor.of(all), Tensor.of(new long[] {bytes, capacity})).await();
    for (int rank = 0; rank < world.size(); rank++) {
      if (all[2 * rank] > all[2 * rank + 1]) {
        return Optional.of(
            what
                + " of rank "
                + rank
                + " of "
                + world.size()
                + " take more than the "
                + (all[2 * rank + 1] >> 20)
                + " MiB of heap that it may hold: "
                + (all[2 * rank] >> 20)
                + " MiB. Give the executors more memory, or use more executors");
      }
    }
    return Optional.empty();
  }
}
