package org.sparkcollectives.store;

import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.testing.Eventually;

/** Tests two clients of a TCP store, which know its secret. */
class TcpStoreClientTest extends StoreContractTest {

  private static final byte[] SECRET = {1, 2, 3};

  private TcpStoreServer server;

  TransportSecurity security() {
    return TransportSecurity.plain();
  }

  @Override
  protected Store create() throws Exception {
    server = TcpStore.server("127.0.0.1", 0, SECRET, security());
    return createOther();
  }

  @Override
  protected Store createOther() throws Exception {
    return TcpStore.connect("127.0.0.1", server.port(), SECRET, security(), Eventually.LIMIT);
  }

  @Override
  protected StoreTable table() {
    return server.table();
  }

  @Override
  protected void destroy() {
    server.close();
  }
}
