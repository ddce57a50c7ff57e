package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/** Runs the contract of overlapping operations over TLS. */
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
