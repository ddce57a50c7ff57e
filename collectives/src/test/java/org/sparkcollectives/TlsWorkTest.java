package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/** Runs the contract of works over TLS. */
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
