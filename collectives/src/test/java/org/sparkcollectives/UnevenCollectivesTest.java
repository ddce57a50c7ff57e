package org.sparkcollectives;

import org.sparkcollectives.testing.SeveralNodes;

/** Nodes of one and of more ranks, which work inside first. */
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
