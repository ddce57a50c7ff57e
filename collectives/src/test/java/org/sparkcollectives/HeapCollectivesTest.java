package org.sparkcollectives;

/** Runs the contract of collectives among ranks of one JVM, which read each other's tensors. */
class HeapCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("heap", "tcp");
  }
}
