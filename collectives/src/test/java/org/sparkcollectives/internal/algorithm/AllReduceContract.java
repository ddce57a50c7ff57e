package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.internal.algorithm.Contributions.values;

import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The contract of all-reduces. */
abstract class AllReduceContract extends MessageAlgorithmContract<Call.AllReduce> {

  AllReduceContract() {
    super(OpType.ALL_REDUCE);
  }

  @Override
  final Call.AllReduce call(Group group, int rank) {
    return Call.allReduce(Contributions.of(group.dtype(), rank, group.count()), ReduceOp.SUM);
  }

  @Override
  final float[] result(Call.AllReduce call) {
    return values(call.tensor());
  }

  @Override
  final float[] expected(Group group, int rank) {
    return Contributions.sum(group.ranks(), 0, group.count());
  }

  @ParameterizedTest
  @MethodSource("groups")
  void multipliesOnce(Group group) {
    run(
        group.ranks(),
        (peers, algorithm) -> {
          HostTensor tensor = Contributions.of(group.dtype(), peers.rank(), group.count());
          algorithm.run(peers, Call.allReduce(tensor, ReduceOp.premulSum(2)));
          float[] twice = expected(group, peers.rank());
          for (int i = 0; i < twice.length; i++) {
            twice[i] *= 2;
          }
          assertThat(values(tensor)).isEqualTo(twice);
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 6, 7, 8, 12, 16})
  void givesAllRanksTheSameBits(int ranks) {
    List<float[]> sums = new CopyOnWriteArrayList<>();
    run(
        ranks,
        (peers, algorithm) -> {
          Random random = new Random(peers.rank());
          float[] elements = new float[COUNT];
          for (int i = 0; i < COUNT; i++) {
            elements[i] = random.nextFloat() - 0.5f;
          }
          HostTensor tensor = HostTensor.wrap(DType.FLOAT32, elements);
          algorithm.run(peers, Call.allReduce(tensor, ReduceOp.SUM));
          sums.add(elements);
        });
    assertThat(sums).hasSize(ranks).allSatisfy(sum -> assertThat(sum).isEqualTo(sums.get(0)));
  }
}
