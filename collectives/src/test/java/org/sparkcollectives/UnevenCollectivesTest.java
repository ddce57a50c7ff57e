package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.testing.SeveralNodes;

/**
 * Runs the contract of collectives over nodes of one and of more ranks, which first work within a
 * node.
 */
class UnevenCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("heap", "tcp");
  }

  @Override
  RankContext context(int rank) {
    return SeveralNodes.of(1, 3).apply(rank);
  }
}
