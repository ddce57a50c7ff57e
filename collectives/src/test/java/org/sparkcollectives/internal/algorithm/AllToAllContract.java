package org.sparkcollectives.internal.algorithm;

import java.util.List;
import java.util.stream.IntStream;
import org.sparkcollectives.OpType;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The contract of all-to-alls. */
abstract class AllToAllContract extends MessageAlgorithmContract<Call.AllToAll> {

  AllToAllContract() {
    super(OpType.ALL_TO_ALL);
  }

  /** Returns what one rank sends another. */
  static HostTensor part(Group group, int from, int to, int size) {
    return Contributions.of(group.dtype(), from * group.ranks() + to, size);
  }

  @Override
  final Call.AllToAll call(Group group, int rank) {
    List<HostTensor> inputs =
        IntStream.range(0, group.ranks())
            .mapToObj(to -> part(group, rank, to, group.part()))
            .toList();
    List<HostTensor> outputs =
        IntStream.range(0, group.ranks())
            .mapToObj(from -> HostTensor.allocate(group.dtype(), group.part()))
            .toList();
    return new Call.AllToAll(Chunks.ofParts(outputs), Chunks.ofParts(inputs), true);
  }

  @Override
  final float[] result(Call.AllToAll call) {
    return Contributions.concatenated(call.outputs().all());
  }

  @Override
  final float[] expected(Group group, int rank) {
    return Contributions.concatenated(
        IntStream.range(0, group.ranks())
            .mapToObj(from -> part(group, from, rank, group.part()))
            .toList());
  }
}
