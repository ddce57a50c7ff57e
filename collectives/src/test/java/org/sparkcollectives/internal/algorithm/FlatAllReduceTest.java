package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests {@link FlatAllReduce} by the contract of all-reduces. */
class FlatAllReduceTest extends AllReduceContract {

  /** Sums that another order would round to other bits. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 8})
  void addsUpInTheOrderOfTheRanks(int ranks) {
    float[] sum = contribution(0);
    for (int rank = 1; rank < ranks; rank++) {
      float[] addend = contribution(rank);
      for (int i = 0; i < sum.length; i++) {
        sum[i] += addend[i];
      }
    }
    run(
        ranks,
        (peers, algorithm) -> {
          float[] elements = contribution(peers.rank());
          HostTensor tensor = HostTensor.wrap(DType.FLOAT32, elements);
          algorithm.run(peers, Call.allReduce(tensor, ReduceOp.SUM));
          assertThat(elements).isEqualTo(sum);
        });
  }

  private static float[] contribution(int rank) {
    Random random = new Random(rank);
    float[] elements = new float[COUNT];
    for (int i = 0; i < COUNT; i++) {
      elements[i] = Math.scalb(random.nextFloat() - 0.5f, random.nextInt(24));
    }
    return elements;
  }
}
