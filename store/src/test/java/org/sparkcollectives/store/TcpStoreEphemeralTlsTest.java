package org.sparkcollectives.store;

import org.sparkcollectives.store.net.TransportSecurity;

/** The same under TLS with a key of the process. */
class TcpStoreEphemeralTlsTest extends TcpStoreClientTest {

  @Override
  TransportSecurity security() {
    return TransportSecurity.ephemeralTls();
  }
}
