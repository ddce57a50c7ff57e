package org.sparkcollectives;

/** Runs the contract of redistribution among ranks of one JVM. */
class HeapRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }
}
