package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link DirectAllReduce} by what each all-reduce must do. */
class DirectAllReduceTest extends AllReduceContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7})
  void sendsAsMuchAsARing(int ranks) {
    Group group = new Group(ranks, DType.BFLOAT16, COUNT, 0);
    for (CountingPeers rank : run(ranks, (each, all) -> all.run(each, call(group, each.rank())))) {
      assertThat(rank.messages()).isEqualTo(2L * (ranks - 1));
      assertThat(rank.bytes()).isEqualTo(2L * (ranks - 1) * (BYTES / 2) / ranks);
    }
  }
}
