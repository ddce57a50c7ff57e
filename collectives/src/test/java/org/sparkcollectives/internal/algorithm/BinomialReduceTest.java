package org.sparkcollectives.internal.algorithm;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link BinomialReduce} by the contract of reduces. */
class BinomialReduceTest extends ReduceContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8})
  void sendsTheTensorOnceFromAllButTheRoot(int ranks) {
    int root = ranks - 1;
    Group group = new Group(ranks, DType.FLOAT32, COUNT, root);
    requireSends(group, rank -> rank == root ? 0 : 1, rank -> rank == root ? 0 : BYTES);
  }
}
