package org.sparkcollectives;

/** Runs the contract of works among ranks of one JVM. */
class HeapWorkTest extends WorkContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }
}
