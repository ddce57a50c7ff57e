package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.transport.GroupMemory.Access;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Level;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Tests what ranks gain by knowing their racks, on a simulated network whose racks have ways out
 * that are slower than their hosts together.
 */
class SimulatedRacksTest {

  /** How many times as long as the best a choice may take. */
  private static final double TOLERATED = 1.3;

  private static final List<Long> SIZES =
      List.of(8L, 1L << 10, 16L << 10, 64L << 10, 256L << 10, 1L << 20, 16L << 20);

  private static final HostTensor LARGEST =
      HostTensor.allocate(DType.FLOAT32, SIZES.get(SIZES.size() - 1) / Float.BYTES);

  private static final PathCosts COSTS = CostProfile.of("auto").costs();

  /** The racks of ranks, each on a host of its own. */
  private record Layout(String name, Locality racks) {

    static Layout of(int... sizes) {
      List<Integer> racks = inTurn(sizes);
      return new Layout(sizes.length + " racks of " + racks.size(), Locality.of(racks));
    }

    /** Ranks of the racks come in any order, as Spark's tasks do. */
    static Layout mixed(int... sizes) {
      List<Integer> racks = new ArrayList<>(inTurn(sizes));
      Collections.shuffle(racks, new Random(7));
      return new Layout(sizes.length + " racks of " + racks.size() + ", mixed", Locality.of(racks));
    }

    private static List<Integer> inTurn(int... sizes) {
      return IntStream.range(0, sizes.length)
          .boxed()
          .flatMap(rack -> Collections.nCopies(sizes[rack], rack).stream())
          .toList();
    }

    int ranks() {
      return racks.size();
    }

    SimulatedNetwork network() {
      return SimulatedNetwork.of(
          COSTS, Locality.of(IntStream.range(0, ranks()).boxed().toList()), racks);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static List<Layout> layouts() {
    return List.of(
        Layout.of(2, 2),
        Layout.mixed(2, 2),
        Layout.mixed(4, 4),
        Layout.of(1, 3),
        Layout.of(8, 8),
        Layout.mixed(5, 3, 2),
        Layout.mixed(5, 5, 5),
        Layout.mixed(4, 4, 4, 4),
        Layout.mixed(8, 8, 8, 8, 8, 8, 8, 8),
        Layout.mixed(20, 20, 20));
  }

  /** The time that an operation takes, and what it sends between racks. */
  private record Outcome(double seconds, long bytes) {}

  private static Outcome run(
      Layout layout, boolean known, BiConsumer<SimulatedRank, Integer> operation) {
    List<SimulatedRank> ranks = new ArrayList<>();
    long bytes = 0;
    for (int rank = 0; rank < layout.ranks(); rank++) {
      SimulatedRank each = new SimulatedRank(rank, layout.ranks());
      if (known) {
        each.place(layout.racks());
      }
      operation.accept(each, rank);
      bytes += each.bytesBetween(layout.racks());
      ranks.add(each);
    }
    return new Outcome(layout.network().seconds(ranks), bytes);
  }

  /** An operation on a layout. */
  private record Case<C extends Call<C>>(
      Layout layout, SimulatedCollective<C> collective, long size) {

    C call(int rank) {
      HostTensor tensor = LARGEST.slice(0, size / Float.BYTES);
      return collective.operation().call(tensor, rank, layout.ranks());
    }

    Outcome chosen(boolean known) {
      AlgorithmSelector selector = new AlgorithmSelector(COSTS);
      return run(layout, known, (peers, rank) -> selector.carryOut(peers, call(rank)));
    }

    AlgorithmRows<C> rows() {
      return new AlgorithmSelector(COSTS).table().of(call(0));
    }

    Situation situation() {
      SimulatedRank first = new SimulatedRank(0, layout.ranks());
      first.place(layout.racks());
      return Situation.of(COSTS, first, Access.NONE, call(0).shape());
    }

    Outcome by(AlgorithmRows.Row<C> row) {
      NamedAlgorithms named = NamedAlgorithms.of(List.of(row.name()));
      AlgorithmSelector selector = new AlgorithmSelector(COSTS, named);
      return run(layout, true, (peers, rank) -> selector.carryOut(peers, call(rank)));
    }

    String describe(String one, Outcome outcome, String two, Outcome other) {
      return String.format(
          Locale.ROOT,
          "%s, %s of %d bytes: %s takes %.1f us and sends %d bytes between racks, %s %.1f us and"
              + " %d bytes",
          layout,
          collective.name(),
          size,
          one,
          outcome.seconds() * 1e6,
          outcome.bytes(),
          two,
          other.seconds() * 1e6,
          other.bytes());
    }

    void compareWithOthers(List<String> slow) {
      Situation situation = situation();
      AlgorithmRows.Row<C> chosen = rows().choose(situation);
      Outcome outcome = by(chosen);
      for (AlgorithmRows.Row<C> each : rows().all()) {
        if (each.kind() != AlgorithmRows.Kind.IN_MEMORY
            && each.fit(situation) == AlgorithmRows.Fit.GOOD) {
          Outcome other = by(each);
          if (outcome.seconds() > TOLERATED * other.seconds()) {
            slow.add(describe(chosen.name(), outcome, each.name(), other));
          }
        }
      }
    }
  }

  private static List<Case<?>> cases() {
    List<Case<?>> cases = new ArrayList<>();
    for (Layout layout : layouts()) {
      for (SimulatedCollective<?> collective : SimulatedCollective.all()) {
        for (long size : SIZES) {
          cases.add(new Case<>(layout, collective, size));
        }
      }
    }
    return cases;
  }

  @Test
  void aRingLeavesEachRackOnce() {
    for (Layout layout : layouts()) {
      NamedAlgorithms named = NamedAlgorithms.of(List.of("RingAllReduce"));
      AlgorithmSelector selector = new AlgorithmSelector(COSTS, named);
      HostTensor tensor = LARGEST.slice(0, 16L * layout.ranks());
      Outcome outcome =
          run(
              layout,
              true,
              (peers, rank) -> selector.carryOut(peers, Call.allReduce(tensor, ReduceOp.SUM)));
      long partBytes = 16 * Float.BYTES;
      long steps = 2L * (layout.ranks() - 1);
      assertThat(outcome.bytes())
          .as(layout.toString())
          .isEqualTo(layout.racks().nodes() * steps * partBytes);
    }
  }

  @Test
  void whereEachHostHasARackOfItsOwnOrAllAreInOneNothingChanges() {
    for (Layout layout : List.of(Layout.of(4), Layout.of(1, 1, 1, 1))) {
      List<Level> levels = List.of(Level.racks(layout.racks()));
      SimulatedRank rank = new SimulatedRank(0, layout.ranks());
      assertThat(Hierarchy.messages(rank, 0, levels)).as(layout.toString()).isEmpty();
    }
  }

  @Test
  void noChoiceIsMuchSlowerThanTheBest() {
    List<String> slow = new ArrayList<>();
    for (Case<?> each : cases()) {
      each.compareWithOthers(slow);
    }
    assertThat(slow).isEmpty();
  }

  @Test
  void whoKnowsTheRacksIsNotMuchSlowerAndSendsLessBetweenThem() {
    List<String> worse = new ArrayList<>();
    for (Case<?> each : cases()) {
      Outcome known = each.chosen(true);
      Outcome unknown = each.chosen(false);
      if (known.seconds() > TOLERATED * unknown.seconds() || known.bytes() > unknown.bytes()) {
        worse.add(each.describe("with racks it", known, "without", unknown));
      }
    }
    assertThat(worse).isEmpty();
  }
}
