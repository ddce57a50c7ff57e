package org.sparkcollectives;

/** Operations at the same time in one heap. */
class HeapOverlapTest extends OverlapContractTest {

  @Override
  GroupOptions options() {
    return GroupOptions.defaults();
  }
}
