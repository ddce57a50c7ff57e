package org.sparkcollectives.conformance;

import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests all-to-all of equal parts of one tensor, one to each rank. */
class AllToAllConformanceTest extends OperationConformanceTest {

  @Override
  public boolean reduces() {
    return false;
  }

  @Override
  public void check(CaseRun run) {
    int count = run.count();
    HostTensor input = run.blank(count * run.world());
    HostTensor output = run.blank(count * run.world());
    for (int part = 0; part < run.world(); part++) {
      run.give(input.slice((long) part * count, count), part);
    }
    run.group().allToAll(output, input).await();
    for (int rank = 0; rank < run.world(); rank++) {
      run.assertMoved(output.slice((long) rank * count, count), rank, run.rank());
      run.assertUntouched(input.slice((long) rank * count, count), rank);
    }
  }
}
