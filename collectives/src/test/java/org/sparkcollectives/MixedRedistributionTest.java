package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/** Runs the contract of redistribution among ranks of which some share a JVM. */
class MixedRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }

  @Override
  RankContext context(int rank) {
    return HostedRank.inNode(rank / 2);
  }
}
