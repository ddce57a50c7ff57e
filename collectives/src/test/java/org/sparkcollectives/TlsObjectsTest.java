package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/** Runs the contract of objects over TLS. */
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
