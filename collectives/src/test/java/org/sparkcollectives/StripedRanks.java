package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;

/** Makes hosts of ranks that cut nearly every collective in three. */
final class StripedRanks {

  static final List<String> SETTINGS =
      List.of(
          "spark.collectives.tcp.connections=3", "spark.collectives.tcp.connections.minBytes=64");

  private StripedRanks() {}

  static RankContext plain() {
    return new HostedRank(SETTINGS, TransportSecurity.plain());
  }
}
