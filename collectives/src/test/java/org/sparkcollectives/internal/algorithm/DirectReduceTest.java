package org.sparkcollectives.internal.algorithm;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link DirectReduce} by the contract of reduces. */
class DirectReduceTest extends ReduceContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7})
  void sendsAllPartsFromAllButTheRoot(int ranks) {
    Group group = new Group(ranks, DType.BFLOAT16, COUNT, 0);
    requireSends(
        group,
        rank -> rank == 0 ? ranks - 1 : ranks,
        rank -> (rank == 0 ? ranks - 1 : ranks) * (BYTES / 2) / ranks);
  }
}
