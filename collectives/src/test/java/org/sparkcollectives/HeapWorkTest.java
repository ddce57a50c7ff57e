package org.sparkcollectives;

/** The works of ranks of one JVM. */
class HeapWorkTest extends WorkContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }
}
