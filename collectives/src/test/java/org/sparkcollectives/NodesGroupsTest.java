package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.testing.SeveralNodes;

/** Runs the contract of groups over two nodes, which first work within a node. */
class NodesGroupsTest extends GroupsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }

  @Override
  RankContext context(int rank) {
    return SeveralNodes.inTurn(2).apply(rank);
  }
}
