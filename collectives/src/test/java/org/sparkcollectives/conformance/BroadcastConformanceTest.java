package org.sparkcollectives.conformance;

import org.sparkcollectives.Tensor;

/** Tests broadcast of the root's tensor to all ranks. */
class BroadcastConformanceTest extends OperationConformanceTest {

  @Override
  public boolean reduces() {
    return false;
  }

  @Override
  public void check(CaseRun run) {
    for (int root : run.roots()) {
      Tensor tensor = run.given(root, run.count());
      run.group().broadcast(tensor, root).await();
      run.assertMoved(tensor, root, root);
    }
  }
}
