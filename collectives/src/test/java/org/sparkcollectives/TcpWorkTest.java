package org.sparkcollectives;

/** The works of ranks that talk over sockets only. */
class TcpWorkTest extends WorkContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }
}
