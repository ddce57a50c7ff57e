package org.sparkcollectives.conformance;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.Tensor;

/** Tests reduce-scatter of tensors of any counts, one to each rank. */
class ReduceScatterListConformanceTest extends OperationConformanceTest {

  @Override
  public boolean reduces() {
    return true;
  }

  @Override
  public boolean worksInPlace() {
    return true;
  }

  @Override
  public void check(CaseRun run) {
    List<Tensor> inputs = new ArrayList<>();
    for (int count : run.uneven()) {
      inputs.add(run.given(inputs.size(), count));
    }
    int own = run.uneven()[run.rank()];
    Tensor output = run.what().inPlace() ? inputs.get(run.rank()) : run.blank(own);
    run.group().reduceScatter(output, inputs, run.op()).await();
    run.assertReduced(output, run.rank());
    for (int part = 0; part < run.world(); part++) {
      if (part != run.rank() || !run.what().inPlace()) {
        run.assertUntouched(inputs.get(part), part);
      }
    }
  }
}
