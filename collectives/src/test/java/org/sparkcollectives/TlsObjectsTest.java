package org.sparkcollectives;

/** Objects through TLS. */
class TlsObjectsTest extends ObjectsContractTest {

  @Override
  GroupOptions options() {
    return EncryptedRanks.options();
  }

  @Override
  RankContext context(int rank) {
    return EncryptedRanks.tls();
  }
}
