package org.sparkcollectives.internal.transport.heap;

import java.util.function.Supplier;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Progress;

/** The paths of one rank to other ranks of its group in the same JVM. */
public final class HeapPairs {

  private final HeapGroup group;
  private final int rank;
  private final Progress progress;
  private final Supplier<OperationHeader> current;
  private final HeapRegion region;

  /**
   * The paths of a rank that has joined {@code group}.
   *
   * @param progress where this rank waits, shared with its other paths
   * @param current the operation that this rank is in
   * @param region what the ranks of this JVM use in other operations; null if they use none
   */
  public HeapPairs(
      HeapGroup group,
      int rank,
      Progress progress,
      Supplier<OperationHeader> current,
      HeapRegion region) {
    this.group = group;
    this.rank = rank;
    this.progress = progress;
    this.current = current;
    this.region = region;
  }

  /** Returns the path to a rank of the same JVM. */
  public Pair pair(int peer) {
    return new HeapPair(group, rank, peer, progress, current, region);
  }
}
