package org.sparkcollectives;

/** Groups made from groups whose ranks talk over sockets only. */
class TcpGroupsTest extends GroupsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }
}
