package org.sparkcollectives;

/** Runs the contract of works over sockets only. */
class TcpWorkTest extends WorkContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }
}
