package org.sparkcollectives.conformance;

import org.sparkcollectives.Tensor;

/** Tests reduce, in place at the root; elsewhere the tensor stays as it was. */
class ReduceConformanceTest extends OperationConformanceTest {

  @Override
  public boolean reduces() {
    return true;
  }

  @Override
  public void check(CaseRun run) {
    for (int root : run.roots()) {
      Tensor tensor = run.given(root, run.sharedCount());
      run.group().reduce(tensor, run.op(), root).await();
      if (run.rank() == root) {
        run.assertReduced(tensor, root);
      } else {
        run.assertUntouched(tensor, root);
      }
    }
  }
}
