package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;

/** Tests {@link DisseminationBarrier}, the only barrier with messages. */
class DisseminationBarrierTest extends MessageAlgorithmContract<Call.Barrier> {

  DisseminationBarrierTest() {
    super(OpType.BARRIER);
  }

  @Override
  Call.Barrier call(Group group, int rank) {
    return new Call.Barrier();
  }

  @Override
  float[] result(Call.Barrier call) {
    return new float[0];
  }

  @Override
  float[] expected(Group group, int rank) {
    return new float[0];
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8})
  void sendsOneEmptyMessageAStep(int ranks) {
    requireSends(new Group(ranks, DType.FLOAT32, 0, 0), rank -> log2(ranks), rank -> 0);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8})
  void endsForNobodyBeforeAllHaveCome(int ranks) {
    AtomicIntegerArray come = new AtomicIntegerArray(ranks);
    run(
        ranks,
        (peers, barrier) -> {
          for (int round = 1; round <= 100; round++) {
            come.set(peers.rank(), round);
            barrier.run(peers, new Call.Barrier());
            for (int rank = 0; rank < ranks; rank++) {
              assertThat(come.get(rank)).isGreaterThanOrEqualTo(round);
            }
          }
        });
  }
}
