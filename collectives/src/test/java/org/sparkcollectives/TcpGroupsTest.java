package org.sparkcollectives;

/** Runs the contract of groups over sockets only. */
class TcpGroupsTest extends GroupsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }
}
