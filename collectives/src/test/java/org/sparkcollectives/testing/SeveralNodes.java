package org.sparkcollectives.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.RankContext;
import org.sparkcollectives.store.net.TransportSecurity;

/**
 * Ranks in what behaves as several JVMs, because settings that differ keep them apart: over the
 * heap within, over shared memory or sockets between. What can work inside the nodes first does so,
 * whatever its size.
 */
public final class SeveralNodes {

  /** A setting that makes no difference but that of the nodes. */
  private static final String KEY = "spark.collectives.port.maxRetries=";

  private static final int FIRST = 16;

  /** With which every operation that can works inside the nodes first, whatever its size. */
  private static final List<String> NOTHING_INSIDE =
      List.of(
          "spark.collectives.cost.heap.latency=0s", "spark.collectives.cost.heap.bandwidth=1000t");

  private SeveralNodes() {}

  /** Each node with so many ranks, the last with all further ones. */
  public static IntFunction<RankContext> of(int... sizes) {
    return rank -> {
      int node = 0;
      int end = sizes[0];
      while (rank >= end && node < sizes.length - 1) {
        node++;
        end += sizes[node];
      }
      return node(node);
    };
  }

  /** One rank to each of so many nodes in turn. */
  public static IntFunction<RankContext> inTurn(int nodes) {
    return rank -> node(rank % nodes);
  }

  private static RankContext node(int number) {
    List<String> settings = new ArrayList<>(NOTHING_INSIDE);
    settings.add(KEY + (FIRST + number));
    return new HostedRank(settings, TransportSecurity.plain());
  }
}
