package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.store.net.TransportSecurity;

/** Ranks that talk over sockets where Netty has no native code for the system. */
class NioCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  @Override
  RankContext context() {
    return new HostedRank(
        List.of("spark.collectives.netty.native=false"), TransportSecurity.plain());
  }
}
