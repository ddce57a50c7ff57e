package org.sparkcollectives;

/** Objects while every call is compared first. */
class DetailObjectsTest extends ObjectsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withDebugLevel(DebugLevel.DETAIL);
  }
}
