package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.algorithm.SimulatedNetwork.LogGp;
import org.sparkcollectives.internal.transport.GroupMemory.Access;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Reach;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Compares {@link SimulatedNetwork} with hosts whose links were the limit, see the measurements.
 */
class MeasuredNetworkTest {

  private static final double TOLERATED = 0.2;

  /** The bytes of a message in each frame of 1,514 bytes on a cable. */
  private static final double PAYLOAD = 1448.0 / 1514;

  private static final PathCosts COSTS = CostProfile.of("auto").costs();

  @ParameterizedTest
  @CsvSource({
    "all-reduce, 2, 1, 1000, 65536, 560e-6",
    "all-reduce, 2, 1, 1000, 1048576, 8.80e-3",
    "all-reduce, 2, 1, 1000, 16777216, 141e-3",
    "all-reduce, 2, 1, 10000, 1048576, 885e-6",
    "all-reduce, 4, 1, 1000, 1048576, 13.3e-3",
    "all-reduce, 4, 1, 1000, 16777216, 222e-3",
    "reduce-scatter, 4, 1, 1000, 16777216, 112e-3",
    "all-gather, 4, 1, 1000, 16777216, 111e-3",
    "all-reduce, 2, 2, 1000, 16777216, 161e-3",
    "all-reduce, 8, 1, 200, 65536, 5.17e-3",
    "all-reduce, 8, 1, 200, 16777216, 1.27",
    "reduce-scatter, 8, 1, 200, 16777216, 687e-3",
    "all-gather, 8, 1, 200, 16777216, 635e-3",
  })
  void theChosenAlgorithmTakesTheSimulatedTime(
      String name, int hosts, int ranksPerHost, int megabits, long bytes, double measured) {
    SimulatedCollective<?> collective =
        SimulatedCollective.all().stream()
            .filter(each -> each.name().equals(name))
            .findFirst()
            .orElseThrow();
    List<Integer> places =
        IntStream.range(0, hosts)
            .boxed()
            .flatMap(host -> Collections.nCopies(ranksPerHost, host).stream())
            .toList();
    double simulated = seconds(collective, Locality.of(places), megabits, bytes);
    assertThat(simulated).isCloseTo(measured, within(TOLERATED * measured));
  }

  private static <C extends Call<C>> double seconds(
      SimulatedCollective<C> collective, Locality hosts, int megabits, long bytes) {
    int ranks = hosts.size();
    HostTensor tensor = HostTensor.allocate(DType.FLOAT32, bytes / Float.BYTES);
    SimulatedRank first = new SimulatedRank(0, ranks);
    if (hosts.isDivided()) {
      first.divide(hosts);
    }
    C call = collective.operation().call(tensor, 0, ranks);
    Situation situation =
        new Situation(
            COSTS,
            Reach.NETWORK,
            ranks,
            Access.NONE,
            first.hierarchy(),
            Optional.empty(),
            call.shape());
    AlgorithmRows.Row<C> chosen = new AlgorithmSelector(COSTS).table().of(call).choose(situation);
    LogGp link = LogGp.of(COSTS.network());
    LogGp cable =
        new LogGp(link.latency(), link.overhead(), link.gap(), megabits * 1e6 / 8 * PAYLOAD);
    return new SimulatedNetwork(
            hosts, cable, LogGp.of(COSTS.host()), COSTS.jvm().latency(), COSTS.jvm().bandwidth())
        .seconds(
            rank -> {
              if (hosts.isDivided()) {
                rank.divide(hosts);
              }
              chosen.algorithm().run(rank, collective.operation().call(tensor, rank.rank(), ranks));
            });
  }
}
