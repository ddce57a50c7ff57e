package org.sparkcollectives.conformance;

import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests reduce-scatter of equal parts of one tensor, one to each rank. */
class ReduceScatterConformanceTest extends OperationConformanceTest {

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
    int count = run.count();
    HostTensor input = run.blank(count * run.world());
    for (int part = 0; part < run.world(); part++) {
      run.give(input.slice((long) part * count, count), part);
    }
    HostTensor own = input.slice((long) run.rank() * count, count);
    HostTensor output = run.what().inPlace() ? own : run.blank(count);
    run.group().reduceScatter(output, input, run.op()).await();
    run.assertReduced(output, run.rank());
    for (int part = 0; part < run.world(); part++) {
      if (part != run.rank() || !run.what().inPlace()) {
        run.assertUntouched(input.slice((long) part * count, count), part);
      }
    }
  }
}
