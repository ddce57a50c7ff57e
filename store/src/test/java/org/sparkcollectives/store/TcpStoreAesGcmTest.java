package org.sparkcollectives.store;

import org.sparkcollectives.store.net.TransportSecurity;

/** The same under AES-GCM. */
class TcpStoreAesGcmTest extends TcpStoreClientTest {

  @Override
  TransportSecurity security() {
    return TransportSecurity.aesGcm();
  }
}
