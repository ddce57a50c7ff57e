package org.sparkcollectives;

/** Runs the contract of objects among ranks of one JVM. */
class HeapObjectsTest extends ObjectsContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }
}
