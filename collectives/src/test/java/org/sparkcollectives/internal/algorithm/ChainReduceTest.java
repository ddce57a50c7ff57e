package org.sparkcollectives.internal.algorithm;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link ChainReduce} by the contract of reduces. */
class ChainReduceTest extends ReduceContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 7})
  void sendsTheTensorOnceFromAllButTheRoot(int ranks) {
    int root = ranks - 1;
    long once = algorithm().cost(ranks, BYTES).messages();
    Group group = new Group(ranks, DType.FLOAT32, COUNT, root);
    requireSends(group, rank -> rank == root ? 0 : once, rank -> rank == root ? 0 : BYTES);
  }
}
