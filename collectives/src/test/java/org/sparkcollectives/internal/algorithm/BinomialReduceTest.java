package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link BinomialReduce} by what each reduce must do. */
class BinomialReduceTest extends ReduceContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8})
  void sendsTheTensorOnceFromAllButTheRoot(int ranks) {
    int root = ranks - 1;
    Group group = new Group(ranks, DType.FLOAT32, COUNT, root);
    for (CountingPeers rank :
        run(ranks, (each, tree) -> tree.run(each, call(group, each.rank())))) {
      assertThat(rank.messages()).isEqualTo(rank.rank() == root ? 0 : 1);
      assertThat(rank.bytes()).isEqualTo(rank.rank() == root ? 0 : BYTES);
      assertThat(rank.received()).isLessThanOrEqualTo(log2(ranks));
    }
  }
}
