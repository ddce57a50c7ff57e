package org.sparkcollectives.conformance;

import java.util.List;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.testing.SeveralNodes;

/** The paths between ranks that are threads of one JVM. */
enum Paths {
  /** The default, and the fastest: all ranks see one memory. */
  HEAP,
  /** Sockets only. */
  TCP,
  /** Sockets only, where nearly everything that is sent is cut in three. */
  STRIPED,
  /**
   * The heap between two and two ranks, which different settings keep apart from the others; else
   * sockets.
   */
  MIXED,
  /** Nodes of one, two and four ranks, which first work within a node; sockets between nodes. */
  UNEVEN,
  /** Two nodes to which ranks belong in turn, which first work within a node. */
  INTERLEAVED,
  /** Memory that ranks share as processes of one host do, each in a JVM of its own. */
  SHM,
  /** Sockets only, encrypted with TLS. */
  TLS;

  GroupOptions options() {
    return switch (this) {
      case TCP, STRIPED, TLS -> GroupOptions.defaults().withTransports("tcp");
      case UNEVEN -> GroupOptions.defaults().withTransports("heap", "tcp");
      case SHM -> GroupOptions.defaults().withTransports("shm", "tcp");
      case HEAP, MIXED, INTERLEAVED -> GroupOptions.defaults();
    };
  }

  /** Returns what hosts a rank. */
  RankContext context(int rank) {
    return switch (this) {
      case HEAP, TCP -> RankContext.process();
      case STRIPED ->
          new HostedRank(
              List.of(
                  "spark.collectives.tcp.connections=3",
                  "spark.collectives.tcp.connections.minBytes=64"),
              TransportSecurity.plain());
      case MIXED -> HostedRank.inNode(rank / 2);
      case UNEVEN -> SeveralNodes.of(1, 2, 4).apply(rank);
      case INTERLEAVED -> SeveralNodes.inTurn(2).apply(rank);
      case SHM -> HostedRank.inNode(rank);
      case TLS -> new HostedRank(List.of(), TransportSecurity.ephemeralTls());
    };
  }
}
