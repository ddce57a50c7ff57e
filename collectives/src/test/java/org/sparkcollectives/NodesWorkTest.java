package org.sparkcollectives;

import org.sparkcollectives.testing.SeveralNodes;

/** The works of ranks in two nodes, which work inside first. */
class NodesWorkTest extends WorkContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }

  @Override
  RankContext context(int rank) {
    return SeveralNodes.inTurn(2).apply(rank);
  }
}
