package org.sparkcollectives;

/** Runs the contract of redistribution over sockets only. */
class TcpRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }
}
