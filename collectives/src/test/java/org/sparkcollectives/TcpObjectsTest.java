package org.sparkcollectives;

/** Runs the contract of objects over sockets only. */
class TcpObjectsTest extends ObjectsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }
}
