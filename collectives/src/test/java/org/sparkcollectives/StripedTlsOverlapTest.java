package org.sparkcollectives;

/** Overlapping operations in stripes, each through TLS. */
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
