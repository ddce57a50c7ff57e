package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.OpType;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests {@link PairwiseAllToAll}, the only all-to-all with messages. */
class PairwiseAllToAllTest extends MessageAlgorithmContract<Call.AllToAll> {

  PairwiseAllToAllTest() {
    super(OpType.ALL_TO_ALL);
  }

  /** Returns what one rank sends another. */
  private static HostTensor part(Group group, int from, int to, int size) {
    return Contributions.of(group.dtype(), from * group.ranks() + to, size);
  }

  @Override
  Call.AllToAll call(Group group, int rank) {
    List<HostTensor> inputs =
        IntStream.range(0, group.ranks())
            .mapToObj(to -> part(group, rank, to, group.part()))
            .toList();
    List<HostTensor> outputs =
        IntStream.range(0, group.ranks())
            .mapToObj(from -> HostTensor.allocate(group.dtype(), group.part()))
            .toList();
    return Call.allToAll(outputs, inputs);
  }

  @Override
  float[] result(Call.AllToAll call) {
    return Contributions.concatenated(call.outputs().all());
  }

  @Override
  float[] expected(Group group, int rank) {
    return Contributions.concatenated(
        IntStream.range(0, group.ranks())
            .mapToObj(from -> part(group, from, rank, group.part()))
            .toList());
  }

  @ParameterizedTest
  @MethodSource("groups")
  void exchangesPartsOfDifferentSizes(Group group) {
    run(
        group.ranks(),
        (peers, algorithm) -> {
          int own = peers.rank();
          List<HostTensor> inputs =
              IntStream.range(0, group.ranks())
                  .mapToObj(to -> part(group, own, to, own * 50 + to * 3))
                  .toList();
          List<HostTensor> outputs =
              IntStream.range(0, group.ranks())
                  .mapToObj(from -> HostTensor.allocate(group.dtype(), from * 50 + own * 3))
                  .toList();
          algorithm.run(peers, Call.allToAll(outputs, inputs));
          assertThat(Contributions.concatenated(outputs))
              .isEqualTo(
                  Contributions.concatenated(
                      IntStream.range(0, group.ranks())
                          .mapToObj(from -> part(group, from, own, from * 50 + own * 3))
                          .toList()));
        });
  }
}
