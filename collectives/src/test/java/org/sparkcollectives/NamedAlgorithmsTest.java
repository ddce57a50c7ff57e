package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.AlgorithmChoices.Candidate;
import org.sparkcollectives.AlgorithmChoices.Choice;
import org.sparkcollectives.AlgorithmChoices.Tensors;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/**
 * Tests that an algorithm that is named runs wherever it can, and that the call is refused where it
 * cannot: every algorithm, over every path.
 */
@EnabledOnOs(OS.LINUX)
@ExtendWith(LeakCheck.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // The groups that explain themselves are made once.
class NamedAlgorithmsTest {

  private static final int RANKS = 4;

  /** One that fits slots, and one that is cut in stripes. */
  private static final List<Integer> BYTES = List.of(1 << 10, 16 << 10);

  /** The place of the ranks, and the type of their tensors. */
  private record Place(
      String name,
      GroupOptions options,
      IntFunction<RankContext> contexts,
      boolean allocated,
      DType dtype) {

    @Override
    public String toString() {
      return name;
    }
  }

  /** A case of the test. */
  private record Case(Place place, OpType operation, String algorithm) {

    @Override
    public String toString() {
      return algorithm + " for " + operation + " in " + place;
    }
  }

  private final Map<String, AlgorithmChoices> explained = new LinkedHashMap<>();

  private static List<Place> places() {
    List<Place> places = new ArrayList<>();
    ChoicesOfGroups.worlds(RANKS)
        .forEach(
            (name, world) ->
                places.add(
                    new Place(
                        name, world.options(), world.contexts(), world.allocated(), DType.INT32)));
    Paths stripes = Paths.STRIPED;
    places.add(new Place("stripes", stripes.options(), stripes::context, false, DType.INT32));
    places.add(
        new Place("stripes, halves", stripes.options(), stripes::context, false, DType.FLOAT16));
    return places;
  }

  private AlgorithmChoices explained(Place place) {
    return explained.computeIfAbsent(
        place.name(),
        name ->
            GroupRuns.run(
                    RANKS,
                    place.options(),
                    place.contexts(),
                    group -> group.explain(place.dtype(), ReduceOp.SUM))
                .get(0));
  }

  private Choice choice(Place place, OpType operation, int bytes) {
    Tensors tensors = place.allocated() ? Tensors.ALLOCATED : Tensors.OTHERS;
    return explained(place).choices().stream()
        .filter(each -> each.collective() == operation)
        .filter(each -> each.tensors().isEmpty() || each.tensors().equals(Optional.of(tensors)))
        .filter(
            each ->
                operation == OpType.BARRIER
                    || (each.fromBytes() <= bytes && bytes <= each.toBytes()))
        .findFirst()
        .orElseThrow();
  }

  Stream<Case> cases() {
    return places().stream()
        .flatMap(
            place ->
                ChoicesOfGroups.operations().keySet().stream()
                    .flatMap(
                        operation ->
                            choice(place, operation, BYTES.get(0)).candidates().stream()
                                .map(each -> new Case(place, operation, each.algorithm()))));
  }

  /** Returns why an algorithm does not fit; empty where it does. */
  private static String obstacle(Choice choice, String algorithm) {
    Candidate candidate =
        choice.candidates().stream()
            .filter(each -> each.algorithm().equals(algorithm))
            .findFirst()
            .orElseThrow();
    return candidate.reason().matches("(needs|would round|only pays).*") ? candidate.reason() : "";
  }

  private static List<String> fitting(Choice choice) {
    return choice.candidates().stream()
        .map(Candidate::algorithm)
        .filter(each -> obstacle(choice, each).isEmpty())
        .toList();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void runsWhereItFitsAndIsRefusedWhereItDoesNot(Case each) {
    Place place = each.place();
    GroupRuns.run(
        RANKS,
        place.options().withAlgorithms(each.algorithm()),
        place.contexts(),
        group -> {
          for (int bytes : BYTES) {
            Choice choice = choice(place, each.operation(), bytes);
            String obstacle = obstacle(choice, each.algorithm());
            if (obstacle.isEmpty()) {
              begin(group, each, bytes).await();
              assertThat(algorithms(group, each.operation())).containsOnly(each.algorithm());
            } else {
              assertThatIllegalArgumentException()
                  .isThrownBy(() -> begin(group, each, bytes))
                  .withMessageStartingWith("Rank " + group.rank() + " of 4 cannot carry out ")
                  .withMessageContaining(each.operation().label())
                  .withMessageContaining("by " + each.algorithm())
                  .withMessageContaining("it " + obstacle)
                  .withMessageEndingWith("These fit: " + String.join(", ", fitting(choice)));
            }
          }
          // A refusal leaves the group as it was.
          assertThat(group.isFailed()).isFalse();
          return null;
        });
  }

  private static Work begin(ProcessGroup group, Case of, int bytes) {
    DType dtype = of.place().dtype();
    return ChoicesOfGroups.operations()
        .get(of.operation())
        .begin(
            group,
            bytes / dtype.bytes(),
            count ->
                of.place().allocated()
                    ? group.allocate(dtype, count)
                    : Tensor.allocate(dtype, count));
  }

  /** Else the test above might see refusals alone. */
  @Test
  void everyAlgorithmFitsSomewhere() {
    Set<String> fitting = new TreeSet<>();
    Set<String> all = new TreeSet<>();
    cases()
        .forEach(
            each -> {
              all.add(each.algorithm());
              for (int bytes : BYTES) {
                fitting.addAll(fitting(choice(each.place(), each.operation(), bytes)));
              }
            });
    assertThat(fitting).isEqualTo(all).hasSizeGreaterThan(30);
  }

  private static RankContext named(String algorithms) {
    return HostedRank.inNode(0, "spark.collectives.algorithm=" + algorithms);
  }

  /** Returns the algorithms that this rank has run for an operation. */
  private static List<String> algorithms(ProcessGroup group, OpType operation) {
    return group.statistics().byOperation().stream()
        .filter(each -> each.operation() == operation)
        .map(OperationStatistics::algorithm)
        .toList();
  }

  @Test
  void aSettingNamesOneForEachOperationAndTheOthersAreChosenByCost() {
    GroupRuns.run(
        2,
        GroupOptions.defaults().withTransports("tcp"),
        named("RingAllReduce, ChainReduce,LinearGather"),
        group -> {
          group.allReduce(Tensor.of(1), ReduceOp.SUM).await();
          group.broadcast(Tensor.of(1), 0).await();
          group.allReduceCoalesced(List.of(Tensor.of(1), Tensor.of(2)), ReduceOp.SUM).await();
          assertThat(algorithms(group, OpType.ALL_REDUCE)).containsOnly("RingAllReduce");
          assertThat(algorithms(group, OpType.BROADCAST)).containsOnly("BinomialBroadcast");
          assertThat(algorithms(group, OpType.ALL_REDUCE_COALESCED)).containsOnly("RingAllReduce");
          assertThatThrownBy(() -> group.reduce(Tensor.of(1), ReduceOp.SUM, 0))
              .hasMessage(
                  "Rank "
                      + group.rank()
                      + " of 2 cannot carry out reduce (int32 x 1, SUM, root 0) by ChainReduce,"
                      + " which spark.collectives.algorithm names: it needs three ranks. These fit:"
                      + " BinomialReduce");
          return null;
        });
  }

  @Test
  void aCoalescedAllReduceIsRefusedLikeItsParts() {
    GroupRuns.run(
        2,
        GroupOptions.defaults().withTransports("tcp").withAlgorithms("PairwiseAllReduce"),
        group -> {
          List<Tensor> floats =
              List.of(Tensor.allocate(DType.FLOAT32, 4), Tensor.allocate(DType.FLOAT32, 8));
          assertThatIllegalArgumentException()
              .isThrownBy(() -> group.allReduceCoalesced(floats, ReduceOp.SUM))
              .withMessageContaining("only pays where elements are added up in a wider type")
              .withMessageEndingWith(
                  "These fit: FlatAllReduce, DirectAllReduce, RecursiveDoublingAllReduce,"
                      + " HalvingDoublingAllReduce, RingAllReduce");
          return null;
        });
  }

  @Test
  void aRankWhoseTensorLiesElsewhereIsRefusedAndMayTryAgain() {
    GroupRuns.run(
        2,
        GroupOptions.defaults().withAlgorithms("SharedAllReduce"),
        HostedRank::inNode,
        group -> {
          Tensor own = group.allocate(DType.INT32, 10_000);
          if (group.rank() == 1) {
            assertThatIllegalArgumentException()
                .isThrownBy(
                    () -> group.allReduce(Tensor.allocate(DType.INT32, 10_000), ReduceOp.SUM))
                .withMessageContaining("more than 8 KiB in tensors from allocate");
          }
          group.allReduce(own, ReduceOp.SUM).await();
          assertThat(algorithms(group, OpType.ALL_REDUCE)).containsOnly("SharedAllReduce");
          return null;
        });
  }

  /** The ranks learn only by asking each other whether their tensors are in shared memory. */
  @Test
  void ranksThatFindThatTheyShareNoMemoryAreAllRefused(@TempDir Path parent) throws IOException {
    Path folder = Files.createDirectory(parent.resolve("shm"));
    GroupRuns.run(
        2,
        GroupOptions.defaults().withAlgorithms("SlotCollectives"),
        rank -> HostedRank.inNode(rank, "spark.collectives.shm.folder=" + folder),
        group -> {
          folder.toFile().delete();
          assertThatThrownBy(() -> group.broadcast(Tensor.of(1), 0).await())
              .hasStackTraceContaining("cannot carry out broadcast (4 bytes) by SlotCollectives")
              .hasStackTraceContaining("These fit: BinomialBroadcast");
          return null;
        });
  }

  @Test
  void whatAnOperationIsMadeOfIsChosenByCost() {
    GroupRuns.run(
        2,
        GroupOptions.defaults()
            .withTransports("tcp")
            .withDebugLevel(DebugLevel.DETAIL)
            .withAlgorithms("SharedAllGather"),
        group -> {
          // The ranks gather digests of their calls first, and this gathers three times.
          SparseTensor one =
              SparseTensor.of(new long[] {4}, Tensor.of(1L).reshape(1, 1), Tensor.of(2f));
          Work sum = group.allReduce(one);
          sum.await();
          assertThat(sum.sparseResult().values().count()).isEqualTo(1);
          return null;
        });
  }

  @Test
  void aGroupMadeFromAnotherHasItsAlgorithmsUnlessItNamesOthers() {
    GroupRuns.run(
        2,
        GroupOptions.defaults().withTransports("tcp").withAlgorithms("RingAllReduce"),
        group -> {
          Map<String, GroupOptions> options = new LinkedHashMap<>();
          GroupOptions none = GroupOptions.defaults();
          options.put("RingAllReduce", none);
          options.put("HalvingDoublingAllReduce", none.withAlgorithms("HalvingDoublingAllReduce"));
          options.put("FlatAllReduce", none.withAlgorithms("auto"));
          for (Map.Entry<String, GroupOptions> each : options.entrySet()) {
            try (ProcessGroup made = group.newGroup(each.getValue())) {
              made.allReduce(Tensor.of(1), ReduceOp.SUM).await();
              assertThat(algorithms(made, OpType.ALL_REDUCE)).containsOnly(each.getKey());
            }
          }
          return null;
        });
  }

  @Test
  void anExplanationSaysWhatIsNamed() {
    AlgorithmChoices all =
        GroupRuns.run(
                2,
                GroupOptions.defaults()
                    .withTransports("tcp")
                    .withAlgorithms("HierarchicalBroadcast", "RingAllReduce"),
                ProcessGroup::explain)
            .get(0);
    assertThat(all.toString())
        .contains("all_reduce, 1 B to 256 MiB: RingAllReduce\n")
        .contains("broadcast, 1 B to 256 MiB: HierarchicalBroadcast (refused)\n")
        .contains("refused: needs nodes of several ranks\n")
        .contains("chosen: is named\n")
        .contains("reduce, 1 B to 256 MiB: BinomialReduce\n");
  }

  @Test
  void twoForOneOperationAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                HostedGroups.create(
                    new HashStore(),
                    0,
                    1,
                    GroupOptions.defaults(),
                    named("RingAllReduce,FlatAllReduce")))
        .withMessageContaining("two algorithms for all-reduce: RingAllReduce and FlatAllReduce");
  }
}
