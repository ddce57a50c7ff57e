package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.transport.GroupMemory.Access;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Reach;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Tests the choices of {@link AlgorithmTable} against the time that every algorithm takes on a
 * simulated network.
 */
class SimulatedChoicesTest {

  /** How many times as long as the best a choice may take. */
  private static final double TOLERATED = 1.3;

  private static final List<Integer> RANKS = List.of(2, 3, 4, 8, 9, 16, 64, 500);

  private static final List<Long> SIZES =
      List.of(8L, 1L << 10, 16L << 10, 64L << 10, 256L << 10, 1L << 20, 16L << 20);

  /** The most bytes that all ranks together have: they are copied by some algorithms. */
  private static final long MOST_BYTES_OF_ALL = 1L << 30;

  private static final HostTensor LARGEST =
      HostTensor.allocate(DType.FLOAT32, SIZES.get(SIZES.size() - 1) / Float.BYTES);

  private static final PathCosts COSTS = CostProfile.of("auto").costs();

  /** The place of the ranks. */
  private record Layout(String name, SimulatedNetwork network, Reach reach, Locality jvms) {

    int ranks() {
      return network.hosts().size();
    }

    boolean isDivided() {
      return jvms.isDivided();
    }

    @Override
    public String toString() {
      return ranks() + " ranks, " + name;
    }
  }

  private static List<Layout> layouts() {
    List<Layout> layouts = new ArrayList<>();
    for (int n : RANKS) {
      Locality apart = Locality.of(IntStream.range(0, n).boxed().toList());
      layouts.add(
          new Layout("a host each", SimulatedNetwork.of(COSTS, apart), Reach.NETWORK, apart));
      if (n <= 64) {
        Locality together = Locality.of(Collections.nCopies(n, 0));
        layouts.add(
            new Layout("one host", SimulatedNetwork.of(COSTS, together), Reach.HOST, apart));
      }
    }
    return layouts;
  }

  /** The seconds that an algorithm takes. */
  private static <C extends Call<C>> double seconds(
      Layout layout,
      AlgorithmRows.Row<C> row,
      SimulatedCollective.Operation<C> operation,
      HostTensor tensor) {
    return layout
        .network()
        .seconds(
            rank -> {
              if (layout.isDivided()) {
                rank.divide(layout.jvms());
              }
              row.algorithm().run(rank, operation.call(tensor, rank.rank(), layout.ranks()));
            });
  }

  /** The least that an algorithm can take, as no rank does several things at once. */
  private static double least(Layout layout, AlgorithmRows.Row<?> row, Shape shape) {
    if (!(row.algorithm() instanceof MessageAlgorithm<?> algorithm)) {
      return 0;
    }
    CostModel model = COSTS.of(layout.reach());
    Cost cost = algorithm.cost(layout.ranks(), shape.bytes());
    return Math.max(cost.messages() * model.overhead() / 2, cost.bytes() / model.bandwidth());
  }

  private static <C extends Call<C>> void compare(
      Layout layout, SimulatedCollective<C> collective, long bytes, List<String> slow) {
    SimulatedCollective.Operation<C> operation = collective.operation();
    HostTensor tensor = LARGEST.slice(0, bytes / Float.BYTES);
    C call = operation.call(tensor, 0, layout.ranks());
    SimulatedRank first = new SimulatedRank(0, layout.ranks());
    if (layout.isDivided()) {
      first.divide(layout.jvms());
    }
    Situation situation =
        new Situation(
            COSTS,
            layout.reach(),
            layout.ranks(),
            Access.NONE,
            first.hierarchy(),
            Optional.empty(),
            call.shape());
    AlgorithmRows<C> rows = new AlgorithmSelector(COSTS).table().of(call);
    AlgorithmRows.Row<C> chosen = rows.choose(situation);
    double time = seconds(layout, chosen, operation, tensor);
    for (AlgorithmRows.Row<C> each : rows.all()) {
      if (!each.name().equals(chosen.name())
          && each.kind() != AlgorithmRows.Kind.IN_MEMORY
          && each.fit(situation) == AlgorithmRows.Fit.GOOD
          && TOLERATED * least(layout, each, call.shape()) < time) {
        double other = seconds(layout, each, operation, tensor);
        if (time > TOLERATED * other) {
          slow.add(
              String.format(
                  Locale.ROOT,
                  "%s, %s of %d bytes: %s takes %.1f us, %s %.1f us",
                  layout,
                  collective.name(),
                  bytes,
                  chosen.name(),
                  time * 1e6,
                  each.name(),
                  other * 1e6));
        }
      }
    }
  }

  @Test
  void noChoiceIsMuchSlowerThanTheBest() {
    List<String> slow = new ArrayList<>();
    for (Layout layout : layouts()) {
      for (SimulatedCollective<?> collective : SimulatedCollective.all()) {
        for (long bytes : SIZES) {
          if (bytes * layout.ranks() <= MOST_BYTES_OF_ALL) {
            compare(layout, collective, bytes, slow);
          }
        }
      }
    }
    assertThat(slow).isEmpty();
  }
}
