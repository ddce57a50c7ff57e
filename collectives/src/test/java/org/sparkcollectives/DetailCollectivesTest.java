package org.sparkcollectives;

/** Runs the contract of collectives while the ranks compare their calls. */
class DetailCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withDebugLevel(DebugLevel.DETAIL);
  }
}
