package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.store.net.TransportSecurity;
import org.sparkcollectives.testing.TestTls;

/** Hosts of ranks whose connections are encrypted, for the contracts of what goes over them. */
final class EncryptedRanks {

  private EncryptedRanks() {}

  /** Sockets only: memory that ranks share is not encrypted. */
  static GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  /** A rank behind TLS. */
  static RankContext tls() {
    return new HostedRank(List.of(), Tls.SECURITY);
  }

  /** A rank behind AES-GCM. */
  static RankContext aesGcm() {
    return new HostedRank(List.of(), TransportSecurity.aesGcm());
  }

  /** Made once for all test classes of a JVM. */
  private static final class Tls {
    private static final TransportSecurity SECURITY = make();

    private static TransportSecurity make() {
      try {
        return TestTls.create();
      } catch (Exception e) {
        throw new IllegalStateException("No keys for TLS", e);
      }
    }
  }
}
