package org.sparkcollectives.conformance;

import java.util.List;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.RankContext;
import org.sparkcollectives.store.net.TransportSecurity;
import org.sparkcollectives.testing.SeveralNodes;

/** The ways between ranks that are threads of one JVM. */
enum Paths {
  /** The default, and the fastest: all see one memory. */
  HEAP,
  /** Sockets only. */
  TCP,
  /** Sockets only, nearly all of what is sent cut in three. */
  STRIPED,
  /** Two by two over the heap, because settings that differ keep them apart, else over sockets. */
  MIXED,
  /** Nodes of one, two and four ranks, which work inside first; over sockets between them. */
  UNEVEN,
  /** Two nodes to which ranks belong in turn, which work inside first. */
  INTERLEAVED,
  /** Memory that ranks share as processes of one host do, none of them a JVM. */
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

  /** What hosts a rank. */
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
