package org.sparkcollectives;

/** Groups made from groups whose ranks talk through TLS. */
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
