package org.sparkcollectives.conformance;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.Tensor;

/** Tests all-to-all of tensors of any counts, one to each rank. */
class AllToAllListConformanceTest extends OperationConformanceTest {

  @Override
  public boolean reduces() {
    return false;
  }

  @Override
  public void check(CaseRun run) {
    int[] counts = run.uneven();
    List<Tensor> inputs = new ArrayList<>();
    List<Tensor> outputs = new ArrayList<>();
    for (int peer = 0; peer < run.world(); peer++) {
      // The count of what a rank sends to another follows from both.
      inputs.add(run.given(peer, counts[(run.rank() + 2 * peer) % run.world()]));
      outputs.add(run.blank(counts[(peer + 2 * run.rank()) % run.world()]));
    }
    run.group().allToAll(outputs, inputs).await();
    for (int peer = 0; peer < run.world(); peer++) {
      run.assertMoved(outputs.get(peer), peer, run.rank());
      run.assertUntouched(inputs.get(peer), peer);
    }
  }
}
