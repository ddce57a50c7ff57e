package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/** Runs the contract of works over three connections to each peer. */
class StripedWorkTest extends WorkContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  @Override
  RankContext context(int rank) {
    return StripedRanks.plain();
  }
}
