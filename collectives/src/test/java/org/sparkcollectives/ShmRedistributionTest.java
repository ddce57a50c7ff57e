package org.sparkcollectives;

/** Ranks that share memory as processes of one host do, none of them a JVM. */
class ShmRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("shm", "tcp");
  }

  @Override
  RankContext context(int rank) {
    return HostedRank.inNode(rank);
  }
}
