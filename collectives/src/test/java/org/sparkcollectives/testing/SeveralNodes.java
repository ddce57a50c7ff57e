package org.sparkcollectives.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.RankContext;

/**
 * Ranks in what behaves as several JVMs, because settings that differ keep them apart: over the
 * heap within, over shared memory or sockets between. What can work inside the nodes first does so,
 * whatever its size.
 */
public final class SeveralNodes {

  /** With which every operation that can works inside the nodes first, whatever its size. */
  private static final String[] NOTHING_INSIDE = {
    "spark.collectives.cost.heap.latency=0s", "spark.collectives.cost.heap.bandwidth=1000t"
  };

  private SeveralNodes() {}

  /** Each node with so many ranks, the last with all further ones. */
  public static IntFunction<RankContext> of(int... sizes) {
    return of(List.of(), sizes);
  }

  /**
   * The same with further settings.
   *
   * @param settings each {@code key=value}
   */
  public static IntFunction<RankContext> of(List<String> settings, int... sizes) {
    return rank -> {
      int node = 0;
      int end = sizes[0];
      while (rank >= end && node < sizes.length - 1) {
        node++;
        end += sizes[node];
      }
      return node(node, settings);
    };
  }

  /** One rank to each of so many nodes in turn. */
  public static IntFunction<RankContext> inTurn(int nodes) {
    return rank -> node(rank % nodes, List.of());
  }

  private static RankContext node(int number, List<String> settings) {
    List<String> all = new ArrayList<>(List.of(NOTHING_INSIDE));
    all.addAll(settings);
    return HostedRank.inNode(number, all.toArray(String[]::new));
  }
}
