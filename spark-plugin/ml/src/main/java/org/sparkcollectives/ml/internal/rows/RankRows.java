package org.sparkcollectives.ml.internal.rows;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.spark.ml.feature.Instance;
import org.sparkcollectives.ProcessGroup;

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
    List<Part> parts =
        world.objects().gather(new Part(summary, own.fit(), own.bytes(), own.capacity()), 0);
    Whole whole = world.objects().broadcast(parts == null ? null : whole(parts), 0);
    return new RankRows(own, whole.statistics, Optional.ofNullable(whole.shortage));
  }

  private static Whole whole(List<Part> parts) {
    for (int rank = 0; rank < parts.size(); rank++) {
      Part part = parts.get(rank);
      if (!part.fits) {
        return new Whole(Statistics.ofNoRows(), shortage(rank, parts.size(), part));
      }
    }
    RowSummary all = parts.get(0).summary;
    parts.subList(1, parts.size()).forEach(part -> all.merge(part.summary));
    return new Whole(all.statistics(), null);
  }

  private static String shortage(int rank, int ranks, Part part) {
    return String.format(
        Locale.ROOT,
        "the rows of rank %d of %d take more than the %d MiB of heap that it may hold; it had read"
            + " %d MiB. Give the executors more memory, or use more executors",
        rank,
        ranks,
        part.capacity >> 20,
        part.bytes >> 20);
  }

  private record Part(RowSummary summary, boolean fits, long bytes, long capacity)
      implements Serializable {}

  /** The shortage is null if there is none: an {@code Optional} cannot be sent. */
  private record Whole(Statistics statistics, String shortage) implements Serializable {}
}
