package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link BinomialBroadcast} by the contract of broadcasts. */
class BinomialBroadcastTest extends BroadcastContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8})
  void sendsFromTheRootAsOftenAsItHasSteps(int ranks) {
    int root = ranks - 1;
    Group group = new Group(ranks, DType.FLOAT32, COUNT, root);
    List<CountingPeers> peers =
        run(ranks, (each, tree) -> tree.run(each, call(group, each.rank())));
    assertThat(peers.get(root).messages()).isEqualTo(log2(ranks));
    assertThat(peers.get(root).bytes()).isEqualTo(log2(ranks) * BYTES);
    assertThat(peers.stream().mapToLong(CountingPeers::messages).sum()).isEqualTo(ranks - 1);
    assertThat(peers.stream().mapToLong(CountingPeers::received).max()).hasValue(1);
  }
}
