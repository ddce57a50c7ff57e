package org.sparkcollectives;

/**
 * Ranks two by two in what behaves as one JVM, because settings that differ keep them apart: over
 * the heap within, over sockets between.
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
