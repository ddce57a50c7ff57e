package org.sparkcollectives.conformance;

import org.sparkcollectives.Tensor;

/** Tests all-reduce, in place and the same on all ranks. */
class AllReduceConformanceTest extends OperationConformanceTest {

  @Override
  public boolean reduces() {
    return true;
  }

  @Override
  public void check(CaseRun run) {
    Tensor tensor = run.given(0, run.sharedCount());
    run.group().allReduce(tensor, run.op()).await();
    run.assertReduced(tensor, 0);
    run.assertAgreed(tensor);
  }
}
