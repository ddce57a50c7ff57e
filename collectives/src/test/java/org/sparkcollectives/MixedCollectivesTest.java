package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.store.net.TransportSecurity;

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
    return new HostedRank(
        List.of("spark.collectives.port.maxRetries=" + (16 + rank / 2)), TransportSecurity.plain());
  }
}
