package org.sparkcollectives.conformance;

import java.util.Arrays;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests all-to-all of rows of one tensor, any number of them to each rank. */
class AllToAllSplitsConformanceTest extends OperationConformanceTest {

  private static final int ROW = 3;

  @Override
  public boolean reduces() {
    return false;
  }

  @Override
  public void check(CaseRun run) {
    long[] inputSplits = new long[run.world()];
    long[] outputSplits = new long[run.world()];
    for (int peer = 0; peer < run.world(); peer++) {
      inputSplits[peer] = rows(run, run.rank(), peer);
      outputSplits[peer] = rows(run, peer, run.rank());
    }
    HostTensor input = run.blank(ROW * (int) Arrays.stream(inputSplits).sum());
    HostTensor output = run.blank(ROW * (int) Arrays.stream(outputSplits).sum());
    long from = 0;
    for (int peer = 0; peer < run.world(); peer++) {
      run.give(input.slice(from, ROW * inputSplits[peer]), peer);
      from += ROW * inputSplits[peer];
    }
    run.group()
        .allToAll(
            output.reshape(output.count() / ROW, ROW),
            input.reshape(input.count() / ROW, ROW),
            outputSplits,
            inputSplits)
        .await();
    from = 0;
    for (int peer = 0; peer < run.world(); peer++) {
      run.assertMoved(output.slice(from, ROW * outputSplits[peer]), peer, run.rank());
      from += ROW * outputSplits[peer];
    }
    from = 0;
    for (int peer = 0; peer < run.world(); peer++) {
      run.assertUntouched(input.slice(from, ROW * inputSplits[peer]), peer);
      from += ROW * inputSplits[peer];
    }
  }

  private static int rows(CaseRun run, int from, int to) {
    return run.uneven()[(2 * from + to) % run.world()] / ROW;
  }
}
