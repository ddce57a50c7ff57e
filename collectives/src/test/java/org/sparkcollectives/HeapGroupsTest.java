package org.sparkcollectives;

/** Runs the contract of groups among ranks of one JVM. */
class HeapGroupsTest extends GroupsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }
}
