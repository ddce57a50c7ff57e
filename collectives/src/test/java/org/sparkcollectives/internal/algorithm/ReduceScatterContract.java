package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.internal.algorithm.Contributions.values;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The contract of reduce-scatters. */
abstract class ReduceScatterContract extends MessageAlgorithmContract<Call.ReduceScatter> {

  ReduceScatterContract() {
    super(OpType.REDUCE_SCATTER);
  }

  @Override
  final Call.ReduceScatter call(Group group, int rank) {
    return Call.reduceScatter(
        HostTensor.allocate(group.dtype(), group.part()),
        Contributions.of(group.dtype(), rank, group.part() * group.ranks()),
        ReduceOp.SUM,
        group.ranks());
  }

  @Override
  final float[] result(Call.ReduceScatter call) {
    return values(call.output());
  }

  @Override
  final float[] expected(Group group, int rank) {
    return Contributions.sum(group.ranks(), rank * group.part(), group.part());
  }

  @ParameterizedTest
  @MethodSource("groups")
  void addsUpPartsOfDifferentSizes(Group group) {
    run(
        group.ranks(),
        (peers, algorithm) -> {
          HostTensor input = Contributions.of(group.dtype(), peers.rank(), group.count());
          List<HostTensor> parts = new ArrayList<>();
          int from = 0;
          int own = 0;
          for (int rank = 0; rank < group.ranks(); rank++) {
            // The first is empty, and the last has what is left.
            int left = group.count() - from;
            int size = rank == group.ranks() - 1 ? left : Math.min(left, 7 * rank);
            own = rank == peers.rank() ? from : own;
            parts.add(input.slice(from, size));
            from += size;
          }
          int size = (int) parts.get(peers.rank()).count();
          HostTensor output = HostTensor.allocate(group.dtype(), size);
          algorithm.run(peers, Call.reduceScatter(output, parts, ReduceOp.SUM));
          assertThat(values(output)).isEqualTo(Contributions.sum(group.ranks(), own, size));
        });
  }
}
