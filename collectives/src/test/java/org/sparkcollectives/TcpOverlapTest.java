package org.sparkcollectives;

/** Operations at the same time over sockets only. */
class TcpOverlapTest extends OverlapContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }
}
