package org.sparkcollectives.internal.algorithm;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link DirectAllReduce} by the contract of all-reduces. */
class DirectAllReduceTest extends AllReduceContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7})
  void sendsAsMuchAsARing(int ranks) {
    Group group = new Group(ranks, DType.BFLOAT16, COUNT, 0);
    long parts = 2L * (ranks - 1);
    requireSends(group, rank -> parts, rank -> parts * (BYTES / 2) / ranks);
  }
}
