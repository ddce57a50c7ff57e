package org.sparkcollectives.conformance;

import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests all-gather of inputs of equal count into one tensor on all ranks. */
class AllGatherConformanceTest extends OperationConformanceTest {

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
    int count = run.count();
    HostTensor output = run.blank(count * run.world());
    HostTensor input =
        run.give(
            run.what().inPlace()
                ? output.slice((long) run.rank() * count, count)
                : run.blank(count),
            0);
    run.group().allGather(output, input).await();
    for (int rank = 0; rank < run.world(); rank++) {
      run.assertMoved(output.slice((long) rank * count, count), rank, 0);
    }
    run.assertUntouched(input, 0);
  }
}
