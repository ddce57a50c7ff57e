package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link RingAllGather} by what each all-gather must do. */
class RingAllGatherTest extends AllGatherContract.OfAnyParts {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7})
  void sendsAllPartsButOne(int ranks) {
    Group group = new Group(ranks, DType.FLOAT32, COUNT, 0);
    for (CountingPeers rank :
        run(ranks, (each, ring) -> ring.run(each, call(group, each.rank())))) {
      assertThat(rank.messages()).isEqualTo(ranks - 1);
      assertThat(rank.bytes()).isEqualTo((ranks - 1) * BYTES / ranks);
    }
  }
}
