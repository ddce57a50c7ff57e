package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/** Runs the contract of objects over three connections to each peer. */
class StripedObjectsTest extends ObjectsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  @Override
  RankContext context(int rank) {
    return StripedRanks.plain();
  }
}
