package org.sparkcollectives.store;

/** Tests a prefix over a client. */
class TcpStorePrefixTest extends TcpStoreClientTest {

  private Store client;

  @Override
  protected Store create() throws Exception {
    client = super.create();
    return createOther();
  }

  @Override
  protected Store createOther() throws Exception {
    return client == null ? super.createOther() : client.withPrefix("group 7");
  }

  @Override
  protected void closeOwner() {
    client.close();
  }
}
