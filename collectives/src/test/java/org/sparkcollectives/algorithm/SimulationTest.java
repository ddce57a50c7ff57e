package org.sparkcollectives.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** That algorithms cost what they say in groups of up to ten thousand ranks. */
class SimulationTest {

  static Stream<SimulatedAlgorithm> algorithms() {
    return SimulatedAlgorithm.all().stream();
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void anAlgorithmTakesTheStepsMessagesAndBytesThatItSays(SimulatedAlgorithm algorithm) {
    for (int ranks : SimulatedAlgorithm.SIZES) {
      if (ranks <= algorithm.largest()) {
        Cost cost = algorithm.cost(ranks);
        Simulation simulated = algorithm.simulate(ranks);
        String what = algorithm.name() + " of " + ranks;
        // One less where not all ranks have something to do in the first, or the last, step.
        assertThat(simulated.steps()).as(what).isBetween(cost.steps() - 1, cost.steps());
        if (Integer.bitCount(ranks) == 1) {
          assertThat(simulated.steps()).as(what).isEqualTo(cost.steps());
        }
        assertThat(simulated.messages()).as(what).isEqualTo(cost.messages());
        // Parts are cut at whole elements, or at multiples of 16 of them.
        assertThat((double) simulated.bytes())
            .as(what)
            .isCloseTo((double) cost.bytes(), within(0.03 * cost.bytes()));
        assertThat(algorithm.connections(ranks)).as(what).isEqualTo(simulated.connections());
      }
    }
  }

  @Test
  void whatALargeGroupRunsMeetsFewPeers() {
    for (SimulatedAlgorithm algorithm : SimulatedAlgorithm.all()) {
      boolean mesh = algorithm.name().startsWith("Flat") || algorithm.name().startsWith("Direct");
      if (!mesh) {
        // A doubling has a peer each way; the ranks beyond a power of two have another.
        assertThat(algorithm.connections(10_000)).as(algorithm.name()).isLessThanOrEqualTo(2 * 14);
      }
    }
  }

  @Test
  void aBarrierOfTenThousandRanksTakesAStepForEachDoubling() {
    for (int ranks : SimulatedAlgorithm.SIZES) {
      int doublings = Integer.SIZE - Integer.numberOfLeadingZeros(ranks - 1);
      Simulation simulated = Simulation.of(ranks, new DisseminationBarrier()::run);
      assertThat(simulated.steps()).isEqualTo(doublings);
      assertThat(simulated.messages()).isEqualTo(doublings);
      assertThat(simulated.connections()).isLessThanOrEqualTo(2 * doublings);
    }
  }

  @Test
  void aSimulationNoticesARankThatWaitsInVain() {
    assertThatThrownBy(
            () ->
                Simulation.of(
                    2,
                    rank -> {
                      if (rank.rank() == 0) {
                        rank.pair(1).receive(null);
                      }
                    }))
        .isInstanceOf(AssertionError.class)
        .hasMessage("rank 0 waits in vain for rank 1");
  }
}
