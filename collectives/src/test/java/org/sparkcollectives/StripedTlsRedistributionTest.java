package org.sparkcollectives;

import org.sparkcollectives.store.net.TransportSecurity;

/** Redistribution in stripes, each through TLS. */
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
