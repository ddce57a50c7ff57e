package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.store.net.TransportSecurity;

/** Parts handed around among ranks of which some share a JVM. */
class MixedRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }

  @Override
  RankContext context(int rank) {
    return new HostedRank(
        List.of("spark.collectives.port.maxRetries=" + (16 + rank / 2)), TransportSecurity.plain());
  }
}
