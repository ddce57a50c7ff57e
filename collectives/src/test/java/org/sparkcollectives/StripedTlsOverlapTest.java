package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/** Runs the contract of overlapping operations in stripes, each over TLS. */
class StripedTlsOverlapTest extends OverlapContractTest {

  @Override
  GroupOptions options() {
    return EncryptedRanks.options();
  }

  @Override
  RankContext context(int rank) {
    return new HostedRank(StripedRanks.SETTINGS, EncryptedRanks.tls().security());
  }
}
