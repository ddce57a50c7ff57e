package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.internal.algorithm.Contributions.values;

import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.BFloat16;
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
    for (DType dtype : List.of(DType.FLOAT32, DType.BFLOAT16)) {
      if (dtype == DType.BFLOAT16 && !fits(new Group(ranks, dtype, COUNT, 0))) {
        continue;
      }
      List<float[]> sums = new CopyOnWriteArrayList<>();
      run(
          ranks,
          (peers, algorithm) -> {
            Random random = new Random(peers.rank());
            HostTensor tensor = HostTensor.allocate(dtype, COUNT);
            for (int i = 0; i < COUNT; i++) {
              put(tensor, i, random.nextFloat() - 0.5f);
            }
            algorithm.run(peers, Call.allReduce(tensor, ReduceOp.SUM));
            sums.add(values(tensor));
          });
      assertThat(sums).hasSize(ranks).allSatisfy(sum -> assertThat(sum).isEqualTo(sums.get(0)));
    }
  }

  /** Rounds a number to the type of a tensor that wraps an array of its own. */
  private static void put(HostTensor tensor, int index, float value) {
    if (tensor.dtype() == DType.FLOAT32) {
      ((float[]) tensor.array())[index] = value;
    } else {
      ((short[]) tensor.array())[index] = BFloat16.fromFloat(value);
    }
  }

  /**
   * Sums that are exact in {@code float32} in whichever order, and not in fewer bits: one that is
   * rounded on the way differs.
   */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 6, 7, 8, 12, 16})
  void roundsHalvesOnce(int ranks) {
    if (!fits(new Group(ranks, DType.BFLOAT16, COUNT, 0))) {
      return;
    }
    float[] sum = new float[COUNT];
    for (int rank = 0; rank < ranks; rank++) {
      HostTensor each = uneven(rank);
      for (int i = 0; i < COUNT; i++) {
        sum[i] += BFloat16.toFloat(((short[]) each.array())[i]);
      }
    }
    short[] expected = new short[COUNT];
    for (int i = 0; i < COUNT; i++) {
      expected[i] = BFloat16.fromFloat(sum[i]);
    }
    run(
        ranks,
        (peers, algorithm) -> {
          HostTensor tensor = uneven(peers.rank());
          algorithm.run(peers, Call.allReduce(tensor, ReduceOp.SUM));
          assertThat((short[]) tensor.array()).isEqualTo(expected);
        });
  }

  private static HostTensor uneven(int rank) {
    Random random = new Random(rank);
    HostTensor tensor = HostTensor.allocate(DType.BFLOAT16, COUNT);
    for (int i = 0; i < COUNT; i++) {
      put(tensor, i, Math.scalb((float) (random.nextInt(512) - 256), i % 5 - 8 + rank % 3));
    }
    return tensor;
  }
}
