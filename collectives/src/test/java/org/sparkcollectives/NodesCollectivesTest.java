package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.testing.SeveralNodes;

/**
 * Runs the contract of collectives over three nodes, which first work within a node, and share
 * memory with each other.
 */
class NodesCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }

  @Override
  RankContext context(int rank) {
    return SeveralNodes.of(2, 3, 2).apply(rank);
  }
}
