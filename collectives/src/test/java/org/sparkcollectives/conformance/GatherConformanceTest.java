package org.sparkcollectives.conformance;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.Tensor;

/** Tests gather of all ranks' inputs into tensors at the root. */
class GatherConformanceTest extends OperationConformanceTest {

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
      List<Tensor> outputs = new ArrayList<>();
      for (int rank = 0; run.rank() == root && rank < run.world(); rank++) {
        outputs.add(run.blank(counts[rank]));
      }
      boolean inPlace = run.what().inPlace() && run.rank() == root;
      Tensor input = run.give(inPlace ? outputs.get(root) : run.blank(counts[run.rank()]), root);
      run.group().gather(outputs, input, root).await();
      for (int rank = 0; rank < outputs.size(); rank++) {
        run.assertMoved(outputs.get(rank), rank, root);
      }
      run.assertUntouched(input, root);
    }
  }
}
