package org.sparkcollectives;

import org.sparkcollectives.testing.SeveralNodes;

/** Operations side by side of ranks in two nodes, which work inside first. */
class NodesOverlapTest extends OverlapContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }

  @Override
  RankContext context(int rank) {
    return SeveralNodes.inTurn(2).apply(rank);
  }
}
