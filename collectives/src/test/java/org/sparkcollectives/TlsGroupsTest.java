package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/** Runs the contract of groups over TLS. */
class TlsGroupsTest extends GroupsContractTest {

  @Override
  GroupOptions options() {
    return EncryptedRanks.options();
  }

  @Override
  RankContext context(int rank) {
    return EncryptedRanks.tls();
  }
}
