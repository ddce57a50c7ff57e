package org.sparkcollectives;

/** Parts handed around among ranks of one JVM. */
class HeapRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }
}
