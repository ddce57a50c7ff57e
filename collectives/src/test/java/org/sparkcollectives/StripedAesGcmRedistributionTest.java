package org.sparkcollectives;

import org.sparkcollectives.store.net.TransportSecurity;

/** Redistribution in stripes, each encrypted with AES-GCM. */
class StripedAesGcmRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return EncryptedRanks.options();
  }

  @Override
  RankContext context(int rank) {
    return new HostedRank(StripedRanks.SETTINGS, TransportSecurity.aesGcm());
  }
}
