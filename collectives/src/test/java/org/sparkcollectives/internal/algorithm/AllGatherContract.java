package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.OpType;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The contract of all-gathers. */
abstract class AllGatherContract extends MessageAlgorithmContract<Call.AllGather> {

  AllGatherContract() {
    super(OpType.ALL_GATHER);
  }

  @Override
  final Call.AllGather call(Group group, int rank) {
    return callOf(group, rank, each -> group.part());
  }

  static Call.AllGather callOf(Group group, int rank, IntUnaryOperator size) {
    List<HostTensor> outputs =
        IntStream.range(0, group.ranks())
            .mapToObj(each -> HostTensor.allocate(group.dtype(), size.applyAsInt(each)))
            .toList();
    return Call.allGather(outputs, Contributions.of(group.dtype(), rank, size.applyAsInt(rank)));
  }

  @Override
  final float[] result(Call.AllGather call) {
    return Contributions.concatenated(call.outputs().all());
  }

  @Override
  final float[] expected(Group group, int rank) {
    return expectedOf(group, each -> group.part());
  }

  static float[] expectedOf(Group group, IntUnaryOperator size) {
    return Contributions.concatenated(
        IntStream.range(0, group.ranks())
            .mapToObj(each -> Contributions.of(group.dtype(), each, size.applyAsInt(each)))
            .toList());
  }

  /** An all-gather whose parts may differ in size. */
  abstract static class OfAnyParts extends AllGatherContract {

    @ParameterizedTest
    @MethodSource("groups")
    void gathersPartsOfDifferentSizes(Group group) {
      IntUnaryOperator size = rank -> rank == 1 ? 0 : group.part() + 3 * rank;
      run(
          group.ranks(),
          (peers, algorithm) -> {
            Call.AllGather call = callOf(group, peers.rank(), size);
            algorithm.run(peers, call);
            assertThat(result(call)).isEqualTo(expectedOf(group, size));
          });
    }
  }
}
