package org.sparkcollectives.store;

import org.sparkcollectives.net.TransportSecurity;

/** Runs the same tests under TLS with a key of the process. */
class TcpStoreEphemeralTlsTest extends TcpStoreClientTest {

  @Override
  TransportSecurity security() {
    return TransportSecurity.ephemeralTls();
  }
}
