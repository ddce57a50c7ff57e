package org.sparkcollectives.internal.algorithm;

import static org.sparkcollectives.internal.algorithm.Contributions.values;

import java.util.List;
import java.util.stream.IntStream;
import org.sparkcollectives.OpType;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests {@link LinearScatter}, the only scatter with messages. */
class LinearScatterTest extends MessageAlgorithmContract<Call.Scatter> {

  LinearScatterTest() {
    super(OpType.SCATTER);
  }

  private static int size(Group group, int rank) {
    return group.part() + (group.count() == COUNT ? 0 : 3 * rank);
  }

  private static HostTensor input(Group group, int rank) {
    return Contributions.of(group.dtype(), rank, size(group, rank));
  }

  @Override
  Call.Scatter call(Group group, int rank) {
    List<HostTensor> inputs =
        rank != group.root()
            ? List.of()
            : IntStream.range(0, group.ranks()).mapToObj(each -> input(group, each)).toList();
    HostTensor output = HostTensor.allocate(group.dtype(), size(group, rank));
    return new Call.Scatter(output, inputs, group.root());
  }

  @Override
  float[] result(Call.Scatter call) {
    return values(call.output());
  }

  @Override
  float[] expected(Group group, int rank) {
    return values(input(group, rank));
  }
}
