package org.sparkcollectives;

import org.sparkcollectives.testing.SeveralNodes;

/** Three nodes, which work inside first, and share memory between each other. */
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
