package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/** Runs the contract of groups over three connections to each peer. */
class StripedGroupsTest extends GroupsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  @Override
  RankContext context(int rank) {
    return StripedRanks.plain();
  }
}
