package org.sparkcollectives;

/** Parts handed around while every call is compared first. */
class DetailRedistributionTest extends RedistributionContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withDebugLevel(DebugLevel.DETAIL);
  }
}
