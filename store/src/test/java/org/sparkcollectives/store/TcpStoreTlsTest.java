package org.sparkcollectives.store;

import org.junit.jupiter.api.BeforeAll;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.testing.TestTls;

/** Runs the tests of {@link TcpStoreClientTest} over TLS with given certificates. */
class TcpStoreTlsTest extends TcpStoreClientTest {

  private static TransportSecurity tls;

  @BeforeAll
  static void makeKeys() throws Exception {
    tls = TestTls.create();
  }

  @Override
  TransportSecurity security() {
    return tls;
  }
}
