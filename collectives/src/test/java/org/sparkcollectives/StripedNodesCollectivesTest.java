package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.testing.SeveralNodes;

/**
 * Runs the contract of collectives over nodes of one and of more ranks, which first work within a
 * node, and in stripes between nodes.
 */
class StripedNodesCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("heap", "tcp");
  }

  @Override
  RankContext context(int rank) {
    return SeveralNodes.of(StripedRanks.SETTINGS, 1, 3).apply(rank);
  }
}
