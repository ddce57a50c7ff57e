package org.sparkcollectives.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.spi.RankContext;

/**
 * Makes hosts of ranks that act as if in several JVMs, because different settings keep them apart:
 * over the heap within a node, over shared memory or sockets between nodes. Operations first work
 * within a node if they can, whatever their size.
 */
public final class SeveralNodes {

  /**
   * The setting with which every operation that can first works within a node, whatever its size.
   */
  public static final String NOTHING_INSIDE =
      "spark.collectives.cost=" + profile("heap.latency=0s", "heap.bandwidth=1000t");

  private SeveralNodes() {}

  /** Writes a cost profile, each figure {@code key=value}, and returns its path. */
  public static Path profile(String... figures) {
    try {
      Path file = Files.createTempFile("costs", ".properties");
      file.toFile().deleteOnExit();
      return Files.write(file, List.of(figures));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns hosts in nodes with so many ranks each, the last with all further ranks. */
  public static IntFunction<RankContext> of(int... sizes) {
    return of(List.of(), sizes);
  }

  /**
   * Returns such hosts with further settings.
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

  /** Returns hosts in which ranks belong to {@code nodes} nodes in turn. */
  public static IntFunction<RankContext> inTurn(int nodes) {
    return rank -> node(rank % nodes, List.of());
  }

  private static RankContext node(int number, List<String> settings) {
    List<String> all = new ArrayList<>(List.of(NOTHING_INSIDE));
    all.addAll(settings);
    return HostedRank.inNode(number, all.toArray(String[]::new));
  }
}
