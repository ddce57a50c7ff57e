package org.sparkcollectives;

/** Runs the contract of overlapping operations over sockets only. */
class TcpOverlapTest extends OverlapContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }
}
