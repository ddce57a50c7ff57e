package org.sparkcollectives;

/** Groups made from groups of ranks of one JVM. */
class HeapGroupsTest extends GroupsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }
}
