package org.sparkcollectives;

/** Objects among ranks of one JVM. */
class HeapObjectsTest extends ObjectsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }
}
