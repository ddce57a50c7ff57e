package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.Condition;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.Reach;
import org.sparkcollectives.internal.transport.heap.HeapGroup;
import org.sparkcollectives.testing.RankThreads;

/**
 * The contract of algorithms that send messages. Each algorithm has a subclass, named after it and
 * {@code Test}.
 *
 * @param <C> the calls that it carries out
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // The groups depend on the algorithm.
abstract class MessageAlgorithmContract<C extends Call<C>> {

  /** Divisible by 16 and by many world sizes, so that parts are equal. */
  static final int COUNT = 16 * 2 * 3 * 4 * 5 * 7;

  static final long BYTES = (long) COUNT * Float.BYTES;

  private static final CostModel NETWORK = new CostModel(15e-6, 4e-6, 1e9, 8);
  private static final PathCosts COSTS = new PathCosts(NETWORK, NETWORK, NETWORK);

  private final OpType type;

  MessageAlgorithmContract(OpType type) {
    this.type = type;
  }

  /**
   * A group and its tensors.
   *
   * @param count of the elements of a tensor, or of all parts together
   * @param root of operations that have one
   */
  record Group(int ranks, DType dtype, int count, int root) {

    int part() {
      return count / ranks;
    }
  }

  /** Returns groups whose calls the table lets this algorithm carry out. */
  final Stream<Group> groups() {
    return IntStream.of(1, 2, 3, 4, 5, 7, 8, 13)
        .boxed()
        .flatMap(MessageAlgorithmContract::groups)
        .filter(this::fits);
  }

  private static Stream<Group> groups(int ranks) {
    return Stream.concat(small(ranks), ranks <= 4 ? large(ranks) : Stream.empty());
  }

  /** Groups with parts so large that algorithms may cut them. */
  private static Stream<Group> large(int ranks) {
    int part = (int) RingPipeline.SMALLEST_CUT_BYTES + 11;
    return Stream.of(
        new Group(ranks, DType.FLOAT32, ranks * part / Float.BYTES, 0),
        new Group(ranks, DType.BFLOAT16, ranks * part / Short.BYTES, ranks - 1));
  }

  private static Stream<Group> small(int ranks) {
    return Stream.of(
        new Group(ranks, DType.FLOAT32, 0, 0),
        new Group(ranks, DType.FLOAT32, 1, ranks - 1),
        new Group(ranks, DType.FLOAT32, 100, 0),
        new Group(ranks, DType.FLOAT32, 20_011, ranks - 1),
        new Group(ranks, DType.BFLOAT16, 100, ranks / 2),
        new Group(ranks, DType.BFLOAT16, 20_011, 0));
  }

  /** Returns whether the table lets this algorithm carry out the call of a group. */
  final boolean fits(Group group) {
    Shape shape = call(group, 0).shape();
    Situation situation = Situation.ofMessages(COSTS, Reach.NETWORK, group.ranks(), shape);
    return row().fit(situation) != AlgorithmRows.Fit.IMPOSSIBLE;
  }

  /** The part of one rank. */
  interface Body<C> {
    void run(CountingPeers peers, MessageAlgorithm<C> algorithm);
  }

  /** Runs all ranks, each with an algorithm of its own, as it may keep scratch memory. */
  final List<CountingPeers> run(int ranks, Body<C> body) {
    HeapGroup heap = new HeapGroup();
    return RankThreads.run(
        ranks,
        rank -> {
          CountingPeers peers = new CountingPeers(heap, rank, ranks);
          body.run(peers, algorithm());
          return peers;
        });
  }

  private String name() {
    return getClass().getSimpleName().replaceFirst("Test$", "");
  }

  private AlgorithmRows.Row<?> row() {
    return new AlgorithmSelector(COSTS)
        .table().of(type).messages().stream()
            .filter(row -> row.name().equals(name()))
            .findFirst()
            .orElseThrow(() -> new AssertionError("No row of " + type + " is " + name()));
  }

  /** Returns a new one from the table, by the name of the test. */
  @SuppressWarnings("unchecked") // The rows of a collective are for the calls of its type.
  final MessageAlgorithm<C> algorithm() {
    return (MessageAlgorithm<C>) row().algorithm();
  }

  /** Returns the call of a rank. */
  abstract C call(Group group, int rank);

  /** Returns the elements of a rank's result. */
  abstract float[] result(C call);

  /** Returns the elements that the result should have. */
  abstract float[] expected(Group group, int rank);

  @ParameterizedTest
  @MethodSource("groups")
  void givesEachRankItsResult(Group group) {
    run(
        group.ranks(),
        (peers, algorithm) -> {
          C call = call(group, peers.rank());
          algorithm.run(peers, call);
          assertThat(result(call)).isEqualTo(expected(group, peers.rank()));
        });
  }

  /** A cost counts what the rank sends that sends most, or what a root receives. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 6, 7, 8, 12, 16})
  void sendsWhatItsCostSays(int ranks) {
    for (DType dtype : List.of(DType.FLOAT32, DType.BFLOAT16)) {
      Group group = new Group(ranks, dtype, COUNT, 0);
      if (dtype == DType.FLOAT32 || fits(group)) {
        requireCost(group);
      }
    }
  }

  private void requireCost(Group group) {
    List<CountingPeers> peers =
        run(group.ranks(), (each, algorithm) -> algorithm.run(each, call(group, each.rank())));
    Shape shape = call(group, 0).shape();
    // Where a rank knows its own part only, a cost is still that of all parts.
    long all = shape.known() ? shape.bytes() : (long) COUNT * group.dtype().bytes();
    Cost cost = algorithm().cost(group.ranks(), shape.withBytes(all));
    assertThat(cost.messages())
        .isIn(most(peers, CountingPeers::messages), most(peers, CountingPeers::received));
    // Parts are cut at multiples of 16 elements.
    Condition<Long> nearCost =
        new Condition<>(
            bytes -> Math.abs(bytes - cost.bytes()) <= BYTES / 50, "near %s", cost.bytes());
    assertThat(
            List.of(most(peers, CountingPeers::bytes), most(peers, CountingPeers::receivedBytes)))
        .haveAtLeastOne(nearCost);
  }

  /** Requires that each rank sends so many messages and bytes, by its number. */
  final void requireSends(Group group, IntToLongFunction messages, IntToLongFunction bytes) {
    for (CountingPeers rank :
        run(group.ranks(), (each, algorithm) -> algorithm.run(each, call(group, each.rank())))) {
      assertThat(rank.messages()).isEqualTo(messages.applyAsLong(rank.rank()));
      assertThat(rank.bytes()).isEqualTo(bytes.applyAsLong(rank.rank()));
    }
  }

  private static long most(List<CountingPeers> ranks, ToLongFunction<CountingPeers> of) {
    return ranks.stream().mapToLong(of).max().orElseThrow();
  }

  /** Those that {@link SimulatedAlgorithm} lists, in groups that only a simulation can have. */
  @TestFactory
  Stream<DynamicTest> takesTheStepsMessagesAndBytesOfItsCost() {
    return SimulatedAlgorithm.all().stream()
        .filter(algorithm -> algorithm.name().equals(name()))
        .flatMap(
            algorithm ->
                SimulatedAlgorithm.SIZES.stream()
                    .filter(ranks -> ranks <= algorithm.largest())
                    .map(
                        ranks ->
                            dynamicTest(
                                ranks + " ranks", () -> compareWithCost(algorithm, ranks))));
  }

  private static void compareWithCost(SimulatedAlgorithm algorithm, int ranks) {
    Cost cost = algorithm.cost(ranks);
    Simulation simulated = algorithm.simulate(ranks);
    // One less where not all ranks have something to do in the first, or the last, step.
    assertThat(simulated.steps()).isBetween(cost.steps() - 1, cost.steps());
    if (Integer.bitCount(ranks) == 1) {
      assertThat(simulated.steps()).isEqualTo(cost.steps());
    }
    assertThat(simulated.messages()).isEqualTo(cost.messages());
    // Parts are cut at whole elements, or at multiples of 16 of them.
    assertThat((double) simulated.bytes())
        .isCloseTo((double) cost.bytes(), within(0.03 * cost.bytes()));
    assertThat(algorithm.connections(ranks)).isEqualTo(simulated.connections());
  }

  /** Returns the steps of a tree of {@code ranks} ranks. */
  static int log2(int ranks) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(ranks - 1);
  }
}
