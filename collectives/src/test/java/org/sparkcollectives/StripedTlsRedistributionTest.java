package org.sparkcollectives;

import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;

/** Runs the contract of redistribution in stripes, each over TLS. */
class StripedTlsRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return EncryptedRanks.options();
  }

  @Override
  RankContext context(int rank) {
    return new HostedRank(StripedRanks.SETTINGS, TransportSecurity.ephemeralTls());
  }
}
