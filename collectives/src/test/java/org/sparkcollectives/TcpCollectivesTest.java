package org.sparkcollectives;

/** Ranks that talk over sockets only. */
class TcpCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }
}
