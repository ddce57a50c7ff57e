package org.sparkcollectives;

/** The works of ranks that talk through TLS. */
class TlsWorkTest extends WorkContractTest {

  @Override
  GroupOptions options() {
    return EncryptedRanks.options();
  }

  @Override
  RankContext context(int rank) {
    return EncryptedRanks.tls();
  }
}
