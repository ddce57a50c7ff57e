package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;

/** Makes hosts of ranks whose connections are encrypted, for contracts that run over them. */
final class EncryptedRanks {

  private EncryptedRanks() {}

  /** Returns options for sockets only, because memory that ranks share is not encrypted. */
  static GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  /** Returns the host of a rank that uses TLS, with a key of the process. */
  static RankContext tls() {
    return new HostedRank(List.of(), TransportSecurity.ephemeralTls());
  }
}
