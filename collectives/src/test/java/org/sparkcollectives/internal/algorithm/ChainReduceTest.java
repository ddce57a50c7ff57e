package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link ChainReduce} by what each reduce must do. */
class ChainReduceTest extends ReduceContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 7})
  void sendsTheTensorOnceFromAllButTheRoot(int ranks) {
    int root = ranks - 1;
    Group group = new Group(ranks, DType.FLOAT32, COUNT, root);
    long once = algorithm().cost(ranks, BYTES).messages();
    for (CountingPeers rank :
        run(ranks, (each, chain) -> chain.run(each, call(group, each.rank())))) {
      assertThat(rank.messages()).isEqualTo(rank.rank() == root ? 0 : once);
      assertThat(rank.bytes()).isEqualTo(rank.rank() == root ? 0 : BYTES);
    }
  }
}
