package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link ChainBroadcast} by what each broadcast must do. */
class ChainBroadcastTest extends BroadcastContract {

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 7})
  void sendsTheTensorOnceFromAllButItsEnd(int ranks) {
    int root = ranks - 1;
    Group group = new Group(ranks, DType.FLOAT32, COUNT, root);
    long once = algorithm().cost(ranks, BYTES).messages();
    for (CountingPeers rank :
        run(ranks, (each, chain) -> chain.run(each, call(group, each.rank())))) {
      boolean isLast = rank.rank() == (root + ranks - 1) % ranks;
      assertThat(rank.messages()).isEqualTo(isLast ? 0 : once);
      assertThat(rank.bytes()).isEqualTo(isLast ? 0 : BYTES);
    }
  }
}
