package org.sparkcollectives;

/** Runs the contract of overlapping operations among ranks of one JVM. */
class HeapOverlapTest extends OverlapContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }
}
