package org.sparkcollectives;

/** Parts handed around over sockets only. */
class TcpRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }
}
