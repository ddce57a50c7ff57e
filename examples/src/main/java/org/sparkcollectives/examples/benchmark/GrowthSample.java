package org.sparkcollectives.examples.benchmark;

import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/**
 * What one operation in one group has cost: the times of the slowest rank, and the sums of what the
 * processes have used.
 *
 * @param createNanos from the call to the end of the first barrier
 * @param closeNanos the time of closing
 * @param medianNanos the median time of the operation
 * @param create what making the group used, and how much it then held
 * @param run what the iterations used, and how much the group then held
 * @param closeCpuNanos the processor time of closing
 * @param iterations the number of iterations
 * @param wrongElements the wrong elements of a result
 */
record GrowthSample(
    long createNanos,
    long closeNanos,
    long medianNanos,
    ProcessCosts create,
    ProcessCosts run,
    long closeCpuNanos,
    int iterations,
    long wrongElements) {

  /** The sample of a rank outside the group, which adds nothing. */
  static final GrowthSample NONE =
      new GrowthSample(0, 0, 0, ProcessCosts.NONE, ProcessCosts.NONE, 0, 0, 0);

  /** Returns the sample of all ranks of {@code world}; each calls this with its own. */
  GrowthSample combine(ProcessGroup world) {
    long[] slowest = {createNanos, closeNanos, medianNanos, iterations, wrongElements};
    long[] sums = {
      create.cpuNanos(),
      create.connections(),
      create.directBytes(),
      run.cpuNanos(),
      run.connections(),
      run.directBytes(),
      closeCpuNanos
    };
    world.allReduce(Tensor.of(slowest), ReduceOp.MAX).await();
    world.allReduce(Tensor.of(sums), ReduceOp.SUM).await();
    return new GrowthSample(
        slowest[0],
        slowest[1],
        slowest[2],
        new ProcessCosts(sums[0], sums[1], sums[2]),
        new ProcessCosts(sums[3], sums[4], sums[5]),
        sums[6],
        (int) slowest[3],
        slowest[4]);
  }
}
