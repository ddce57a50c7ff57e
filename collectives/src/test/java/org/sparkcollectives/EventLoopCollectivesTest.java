package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;

/**
 * Runs the contract of collectives where Netty's event loops read and write the sockets, with
 * native code where there is any.
 */
class EventLoopCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  @Override
  RankContext context(int rank) {
    return new HostedRank(List.of("spark.collectives.tcp.direct=false"), TransportSecurity.plain());
  }
}
