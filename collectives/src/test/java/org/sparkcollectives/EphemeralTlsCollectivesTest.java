package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;

/** Runs the contract of collectives over TLS with a key of the process. */
class EphemeralTlsCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  @Override
  RankContext context(int rank) {
    return new HostedRank(List.of(), TransportSecurity.ephemeralTls());
  }
}
