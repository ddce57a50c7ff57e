package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.store.net.TransportSecurity;

/** Ranks that share memory as processes of one host do, none of them a JVM. */
class ShmRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("shm", "tcp");
  }

  @Override
  RankContext context(int rank) {
    return new HostedRank(
        List.of("spark.collectives.port.maxRetries=" + (16 + rank)), TransportSecurity.plain());
  }
}
