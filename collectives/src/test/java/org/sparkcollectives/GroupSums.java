package org.sparkcollectives;

/** What shows that a group works, and among which ranks. */
interface GroupSums extends RanksUnderTest {

  /** The global ranks that a group sums up. */
  default int sum(ProcessGroup group, ProcessGroup world) {
    int[] value = {world.rank()};
    group.allReduce(Tensor.of(value), ReduceOp.SUM).await();
    return value[0];
  }
}
