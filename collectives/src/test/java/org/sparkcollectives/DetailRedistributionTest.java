package org.sparkcollectives;

/** Runs the contract of redistribution while the ranks compare their calls. */
class DetailRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withDebugLevel(DebugLevel.DETAIL);
  }
}
