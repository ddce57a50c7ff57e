package org.sparkcollectives;

/** Runs the contract of objects while the ranks compare their calls. */
class DetailObjectsTest extends ObjectsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withDebugLevel(DebugLevel.DETAIL);
  }
}
