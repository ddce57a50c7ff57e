package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/** Runs the contract of redistribution over three connections to each peer. */
class StripedRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  @Override
  RankContext context(int rank) {
    return StripedRanks.plain();
  }
}
