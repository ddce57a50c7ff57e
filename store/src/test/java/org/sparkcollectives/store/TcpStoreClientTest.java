package org.sparkcollectives.store;

import java.time.Duration;

/** The client of a TCP store. */
class TcpStoreClientTest extends StoreContractTest {

  private TcpStoreServer server;

  @Override
  protected Store create() {
    server = TcpStore.server("127.0.0.1", 0);
    return createOther();
  }

  @Override
  protected Store createOther() {
    return TcpStore.connect("127.0.0.1", server.port(), Duration.ofMinutes(5));
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
