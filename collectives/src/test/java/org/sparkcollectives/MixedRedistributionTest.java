package org.sparkcollectives;

/** Parts handed around among ranks of which some share a JVM. */
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
