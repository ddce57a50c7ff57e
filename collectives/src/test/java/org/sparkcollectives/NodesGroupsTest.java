package org.sparkcollectives;

import org.sparkcollectives.testing.SeveralNodes;

/** Groups from groups of ranks in two nodes, which work inside first. */
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
