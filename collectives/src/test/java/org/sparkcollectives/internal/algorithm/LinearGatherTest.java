package org.sparkcollectives.internal.algorithm;

import java.util.List;
import java.util.stream.IntStream;
import org.sparkcollectives.OpType;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests {@link LinearGather}, the only gather with messages. */
class LinearGatherTest extends MessageAlgorithmContract<Call.Gather> {

  LinearGatherTest() {
    super(OpType.GATHER);
  }

  private static int size(Group group, int rank) {
    return group.part() + (group.count() == COUNT ? 0 : 3 * rank);
  }

  @Override
  Call.Gather call(Group group, int rank) {
    List<HostTensor> outputs =
        rank != group.root()
            ? List.of()
            : IntStream.range(0, group.ranks())
                .mapToObj(each -> HostTensor.allocate(group.dtype(), size(group, each)))
                .toList();
    HostTensor input = Contributions.of(group.dtype(), rank, size(group, rank));
    return new Call.Gather(outputs, input, group.root());
  }

  @Override
  float[] result(Call.Gather call) {
    return Contributions.concatenated(call.outputs());
  }

  @Override
  float[] expected(Group group, int rank) {
    return rank != group.root()
        ? new float[0]
        : Contributions.concatenated(
            IntStream.range(0, group.ranks())
                .mapToObj(each -> Contributions.of(group.dtype(), each, size(group, each)))
                .toList());
  }
}
