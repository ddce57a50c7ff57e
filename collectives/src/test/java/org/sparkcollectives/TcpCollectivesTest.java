package org.sparkcollectives;

/** Runs the contract of collectives over sockets only. */
class TcpCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }
}
