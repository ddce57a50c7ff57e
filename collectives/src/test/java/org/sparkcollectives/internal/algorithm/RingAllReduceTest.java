package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link RingAllReduce} by the contract of all-reduces. */
class RingAllReduceTest extends AllReduceContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8})
  void sendsTwiceAllPartsButOneToOneNeighbour(int ranks) {
    Group group = new Group(ranks, DType.FLOAT32, COUNT, 0);
    for (CountingPeers rank :
        run(ranks, (each, ring) -> ring.run(each, call(group, each.rank())))) {
      assertThat(rank.messages())
          .as("rank %d of %d", rank.rank(), ranks)
          .isEqualTo(2L * (ranks - 1));
      assertThat(rank.received())
          .as("rank %d of %d", rank.rank(), ranks)
          .isEqualTo(2L * (ranks - 1));
      assertThat(rank.peersUsed()).isLessThanOrEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void sendsLargeChunksInTwoPieces(int ranks) {
    int chunk = (int) RingPipeline.SMALLEST_CUT_BYTES / Float.BYTES;
    Group group = new Group(ranks, DType.FLOAT32, ranks * chunk, 0);
    requireSends(
        group,
        rank -> 4L * (ranks - 1),
        rank -> 2L * (ranks - 1) * RingPipeline.SMALLEST_CUT_BYTES);
  }
}
