package org.sparkcollectives.conformance;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.Tensor;

/** Tests scatter of the root's tensors, one to each rank. */
class ScatterConformanceTest extends OperationConformanceTest {

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
    for (int root : run.roots()) {
      int[] counts = root % 2 == 0 ? run.uneven() : run.even();
      List<Tensor> inputs = new ArrayList<>();
      for (int rank = 0; run.rank() == root && rank < run.world(); rank++) {
        inputs.add(run.given(rank, counts[rank]));
      }
      boolean inPlace = run.what().inPlace() && run.rank() == root;
      Tensor output = inPlace ? inputs.get(root) : run.blank(counts[run.rank()]);
      run.group().scatter(output, inputs, root).await();
      run.assertMoved(output, root, run.rank());
      for (int rank = 0; rank < inputs.size(); rank++) {
        run.assertUntouched(inputs.get(rank), rank);
      }
    }
  }
}
