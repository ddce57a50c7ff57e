package org.sparkcollectives;

/** All is as it should be while the ranks compare their calls. */
class DetailCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withDebugLevel(DebugLevel.DETAIL);
  }
}
