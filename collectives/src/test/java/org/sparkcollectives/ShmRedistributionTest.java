package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/**
 * Runs the contract of redistribution among ranks that share memory as processes of one host do,
 * each in a JVM of its own.
 */
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
