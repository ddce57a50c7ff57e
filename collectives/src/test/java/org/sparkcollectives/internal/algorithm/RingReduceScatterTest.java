package org.sparkcollectives.internal.algorithm;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link RingReduceScatter} by the contract of reduce-scatters. */
class RingReduceScatterTest extends ReduceScatterContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7})
  void sendsAllPartsButOne(int ranks) {
    Group group = new Group(ranks, DType.FLOAT32, COUNT, 0);
    requireSends(group, rank -> ranks - 1, rank -> (ranks - 1) * BYTES / ranks);
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void sendsLargePartsInTwoPieces(int ranks) {
    int part = (int) RingPipeline.SMALLEST_CUT_BYTES / Float.BYTES;
    Group group = new Group(ranks, DType.FLOAT32, ranks * part, 0);
    requireSends(
        group, rank -> 2L * (ranks - 1), rank -> (ranks - 1) * RingPipeline.SMALLEST_CUT_BYTES);
  }
}
