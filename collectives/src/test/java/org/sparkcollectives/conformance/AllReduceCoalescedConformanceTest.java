package org.sparkcollectives.conformance;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.Tensor;

/** Tests all-reduce of several tensors, each in place and the same on all ranks. */
class AllReduceCoalescedConformanceTest extends OperationConformanceTest {

  @Override
  public boolean reduces() {
    return true;
  }

  @Override
  public void check(CaseRun run) {
    List<Tensor> tensors = new ArrayList<>();
    // Small tensors are sent packed; large ones are too large for that.
    for (int count : new int[] {run.sharedCount(), run.sharedCount(), run.count()}) {
      tensors.add(run.given(tensors.size(), count));
    }
    run.group().allReduceCoalesced(tensors, run.op()).await();
    for (int i = 0; i < tensors.size(); i++) {
      run.assertReduced(tensors.get(i), i);
      run.assertAgreed(tensors.get(i));
    }
  }
}
