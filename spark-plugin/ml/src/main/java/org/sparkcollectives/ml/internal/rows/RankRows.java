package org.sparkcollectives.ml.internal.rows;

import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.ml.feature.Instance;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/**
 * The rows of all ranks: each rank holds its own, and all know the statistics of all.
 *
 * @param own the rows of this rank
 * @param statistics of the rows of all ranks
 * @param shortage why the rows do not fit into the ranks' memory, with the arithmetic
 */
public record RankRows(HeldRows own, Statistics statistics, Optional<String> shortage) {

  /**
   * Reads the rows of this rank, and exchanges their statistics. A collective: called by all ranks.
   *
   * @param blockBytes the most bytes of a block of rows
   * @param capacity the most bytes that this rank may hold, see {@link HeapShare}
   */
  public static RankRows read(
      ProcessGroup world, Iterator<Instance> rows, Labels labels, long blockBytes, long capacity) {
    RowSummary summary = new RowSummary(labels);
    HeldRows own = HeldRows.read(rows, blockBytes, capacity, summary);
    Optional<String> shortage = RankMemory.shortage(world, "the rows", own.bytes(), own.capacity());
    if (shortage.isEmpty()) {
      shortage = shortageOfStatistics(world, own, summary);
    }
    if (shortage.isPresent()) {
      return new RankRows(own, Statistics.ofNoRows(), shortage);
    }
    List<RowSummary> parts = world.objects().gather(summary, 0);
    Statistics statistics = world.objects().broadcast(parts == null ? null : statistics(parts), 0);
    return new RankRows(own, statistics, Optional.empty());
  }

  /** Rank 0 holds the moments of all ranks beside its rows, in memory and as they arrive. */
  private static Optional<String> shortageOfStatistics(
      ProcessGroup world, HeldRows own, RowSummary summary) {
    long[] moments = {summary.bytes()};
    world.allReduce(Tensor.of(moments), ReduceOp.MAX).await();
    long held = world.rank() == 0 ? 2 * moments[0] * world.size() : 2 * moments[0];
    return RankMemory.shortage(
        world, "the rows and the statistics", own.bytes() + held, own.capacity());
  }

  private static Statistics statistics(List<RowSummary> parts) {
    RowSummary all = parts.get(0);
    parts.subList(1, parts.size()).forEach(all::merge);
    return all.statistics();
  }
}
