package org.sparkcollectives;

/** Checks that a group works, and which ranks are in it. */
interface GroupSums extends RanksUnderTest {

  /** Returns the sum of the global ranks of a group. */
  default int sum(ProcessGroup group, ProcessGroup world) {
    int[] value = {world.rank()};
    group.allReduce(Tensor.of(value), ReduceOp.SUM).await();
    return value[0];
  }
}
