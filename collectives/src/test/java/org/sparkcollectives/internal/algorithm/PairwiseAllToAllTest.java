package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests {@link PairwiseAllToAll} by the contract of all-to-alls. */
class PairwiseAllToAllTest extends AllToAllContract {

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
