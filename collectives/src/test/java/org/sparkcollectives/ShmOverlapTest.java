package org.sparkcollectives;

import org.sparkcollectives.spi.RankContext;

/**
 * Runs the contract of overlapping operations among ranks that share memory as processes of one
 * host do.
 */
class ShmOverlapTest extends OverlapContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("shm", "tcp");
  }

  @Override
  RankContext context(int rank) {
    return HostedRank.inNode(rank);
  }
}
