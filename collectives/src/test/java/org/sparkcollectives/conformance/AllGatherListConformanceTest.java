package org.sparkcollectives.conformance;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.Tensor;

/** Tests all-gather of inputs of any counts into tensors on all ranks. */
class AllGatherListConformanceTest extends OperationConformanceTest {

  @Override
  public boolean reduces() {
    return false;
  }

  @Override
  public boolean worksInPlace() {
    return true;
  }

  @Override
  public void check(CaseRun run) {
    List<Tensor> outputs = new ArrayList<>();
    for (int count : run.uneven()) {
      outputs.add(run.blank(count));
    }
    int own = run.uneven()[run.rank()];
    Tensor input = run.give(run.what().inPlace() ? outputs.get(run.rank()) : run.blank(own), 0);
    run.group().allGather(outputs, input).await();
    for (int rank = 0; rank < run.world(); rank++) {
      run.assertMoved(outputs.get(rank), rank, 0);
    }
    run.assertUntouched(input, 0);
  }
}
