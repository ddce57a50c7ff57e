package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

/** Tests {@link ScatterBroadcast} by the contract of broadcasts. */
class ScatterBroadcastTest extends BroadcastContract {

  /** Whoever is the root, and whether or not parts go round the end. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5, 6, 7, 8, 11, 16})
  void everyRootReachesAll(int ranks) {
    for (int root = 0; root < ranks; root++) {
      Group group = new Group(ranks, DType.FLOAT32, 16 * ranks + 5, root);
      run(
          ranks,
          (peers, algorithm) -> {
            Call.Broadcast call = call(group, peers.rank());
            algorithm.run(peers, call);
            assertThat(result(call)).isEqualTo(expected(group, peers.rank()));
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {9, 16, 31})
  void aRankIsConnectedToNoMoreThanItsStepsNeed(int ranks) {
    Group group = new Group(ranks, DType.FLOAT32, COUNT, ranks - 1);
    List<CountingPeers> peers =
        run(ranks, (each, algorithm) -> algorithm.run(each, call(group, each.rank())));
    assertThat(peers)
        .allSatisfy(each -> assertThat(each.peersUsed()).isLessThanOrEqualTo(2 * log2(ranks)));
  }
}
