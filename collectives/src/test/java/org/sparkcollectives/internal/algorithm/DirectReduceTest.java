package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link DirectReduce} by what each reduce must do. */
class DirectReduceTest extends ReduceContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7})
  void sendsAllPartsFromAllButTheRoot(int ranks) {
    Group group = new Group(ranks, DType.BFLOAT16, COUNT, 0);
    for (CountingPeers rank : run(ranks, (each, all) -> all.run(each, call(group, each.rank())))) {
      long parts = rank.rank() == 0 ? ranks - 1 : ranks;
      assertThat(rank.messages()).isEqualTo(parts);
      assertThat(rank.bytes()).isEqualTo(parts * (BYTES / 2) / ranks);
    }
  }
}
