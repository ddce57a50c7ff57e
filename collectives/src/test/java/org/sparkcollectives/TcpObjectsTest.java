package org.sparkcollectives;

/** Objects over sockets only. */
class TcpObjectsTest extends ObjectsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }
}
