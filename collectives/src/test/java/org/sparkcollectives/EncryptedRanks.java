package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.store.net.TransportSecurity;

/** Hosts of ranks whose connections are encrypted, for the contracts of what goes over them. */
final class EncryptedRanks {

  private EncryptedRanks() {}

  /** Sockets only: memory that ranks share is not encrypted. */
  static GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  /** A rank behind TLS, with a key of the process. */
  static RankContext tls() {
    return new HostedRank(List.of(), TransportSecurity.ephemeralTls());
  }
}
