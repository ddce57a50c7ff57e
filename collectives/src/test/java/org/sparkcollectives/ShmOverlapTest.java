package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.store.net.TransportSecurity;

/** Operations at the same time among ranks that share memory as processes of one host do. */
class ShmOverlapTest extends OverlapContractTest {

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
