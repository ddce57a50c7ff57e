package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/**
 * Runs the contract of collectives among ranks of which each two act as one JVM, because different
 * settings keep the others apart: over the heap within a JVM, over sockets between them.
 */
class MixedCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }

  @Override
  RankContext context(int rank) {
    return HostedRank.inNode(rank / 2);
  }
}
