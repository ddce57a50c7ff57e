package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/** Runs the contract of collectives over three connections to each peer. */
class StripedCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  @Override
  RankContext context(int rank) {
    return StripedRanks.plain();
  }
}
