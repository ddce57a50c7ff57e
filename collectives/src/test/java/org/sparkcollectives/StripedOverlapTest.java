package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/** Runs the contract of overlapping operations over three connections to each peer. */
class StripedOverlapTest extends OverlapContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  @Override
  RankContext context(int rank) {
    return StripedRanks.plain();
  }
}
