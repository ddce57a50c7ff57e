package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.testing.SeveralNodes;

/** Runs the contract of overlapping operations over two nodes, which first work within a node. */
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
