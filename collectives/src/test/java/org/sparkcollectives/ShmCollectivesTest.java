package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/**
 * Runs the contract of collectives among ranks that share memory as processes of one host do, each
 * in a JVM of its own.
 */
class ShmCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("shm", "tcp");
  }

  @Override
  RankContext context(int rank) {
    return HostedRank.inNode(rank);
  }
}
