package org.sparkcollectives;

/** Ranks of one JVM that read each other's tensors. */
class HeapCollectivesTest extends CollectivesContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("heap", "tcp");
  }
}
