package org.sparkcollectives;

/** Operations at the same time through TLS. */
class TlsOverlapTest extends OverlapContractTest {

  @Override
  GroupOptions options() {
    return EncryptedRanks.options();
  }

  @Override
  RankContext context(int rank) {
    return EncryptedRanks.tls();
  }
}
