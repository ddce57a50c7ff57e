package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.AlgorithmChoices.Candidate;
import org.sparkcollectives.AlgorithmChoices.Choice;
import org.sparkcollectives.AlgorithmChoices.Tensors;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests that groups run the algorithms that {@code explain} lists. */
@ExtendWith(LeakCheck.class)
class AlgorithmChoicesTest {

  /** Found by following what ran, rank by rank, in groups of each kind. */
  private static final Path RECORDED =
      Path.of("src/test/resources/org/sparkcollectives/groups.txt");

  private static AlgorithmChoices explained(int ranks, GroupOptions options) {
    return GroupRuns.run(ranks, options, ProcessGroup::explain).get(0);
  }

  private static Choice choice(AlgorithmChoices all, OpType type, long bytes) {
    return all.choices().stream()
        .filter(each -> each.collective() == type)
        .filter(each -> each.fromBytes() <= bytes && bytes <= each.toBytes())
        .findFirst()
        .orElseThrow();
  }

  @EnabledOnOs(OS.LINUX)
  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8})
  void aGroupExplainsWhatRunsInIt(int ranks) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Map.Entry<String, ChoicesOfGroups.World> each : ChoicesOfGroups.worlds(ranks).entrySet()) {
      ChoicesOfGroups.World world = each.getValue();
      List<AlgorithmChoices> explained =
          GroupRuns.run(ranks, world.options(), world.contexts(), ProcessGroup::explain);
      assertThat(explained).containsOnly(explained.get(0));
      for (OpType type : ChoicesOfGroups.operations().keySet()) {
        StringBuilder line =
            new StringBuilder(ranks + " ranks, " + each.getKey() + " | " + type + " |");
        for (int bytes : type == OpType.BARRIER ? List.of(1024) : ChoicesOfGroups.SIZES) {
          line.append(' ').append(bytes).append(' ');
          line.append(chosen(explained.get(0), type, bytes, world.allocated()));
        }
        lines.add(line.toString());
      }
    }
    assertThat(lines)
        .containsExactlyElementsOf(
            Files.readAllLines(RECORDED).stream()
                .filter(line -> line.startsWith(ranks + " ranks"))
                .toList());
  }

  private static String chosen(AlgorithmChoices all, OpType type, long bytes, boolean allocated) {
    Tensors tensors = allocated ? Tensors.ALLOCATED : Tensors.OTHERS;
    return all.choices().stream()
        .filter(each -> each.collective() == type)
        .filter(each -> each.tensors().isEmpty() || each.tensors().equals(Optional.of(tensors)))
        .filter(
            each ->
                type == OpType.BARRIER || (each.fromBytes() <= bytes && bytes <= each.toBytes()))
        .map(Choice::algorithm)
        .reduce(
            (first, second) -> {
              throw new AssertionError(first + " and " + second + " for " + bytes);
            })
        .orElseThrow();
  }

  @Test
  void eachCollectiveHasOneChoiceForEachSize() {
    AlgorithmChoices all = explained(3, GroupOptions.defaults().withTransports("tcp"));
    for (OpType type : ChoicesOfGroups.operations().keySet()) {
      List<Choice> choices =
          all.choices().stream().filter(each -> each.collective() == type).toList();
      assertThat(choices).isNotEmpty();
      for (int i = 1; i < choices.size(); i++) {
        assertThat(choices.get(i).fromBytes()).isEqualTo(2 * choices.get(i - 1).toBytes());
      }
    }
  }

  @Test
  void everyAlgorithmThatIsNotChosenSaysWhy() {
    AlgorithmChoices all = explained(3, GroupOptions.defaults().withTransports("tcp"));
    Choice large = choice(all, OpType.ALL_REDUCE, 1 << 26);
    assertThat(large.algorithm()).isEqualTo("RingAllReduce");
    Map<String, Candidate> candidates =
        large.candidates().stream().collect(Collectors.toMap(Candidate::algorithm, each -> each));
    assertThat(candidates.get("RingAllReduce").reason()).startsWith("chosen: ");
    assertThat(candidates.get("RingAllReduce").predicted()).isPresent();
    assertThat(candidates.get("StagedAllReduce").predicted()).isEmpty();
    assertThat(candidates.get("StagedAllReduce").reason()).startsWith("needs all ranks on one");
    assertThat(candidates.get("HierarchicalAllReduce").reason()).startsWith("needs nodes");
    assertThat(candidates.get("HalvingDoublingAllReduce").reason())
        .isEqualTo("is predicted to take no less time");
    assertThat(candidates.get("HalvingDoublingAllReduce").predicted().orElseThrow())
        .isGreaterThanOrEqualTo(candidates.get("RingAllReduce").predicted().orElseThrow());
  }

  @Test
  void aLargeOperationOverTcpSaysInHowManyStripesItGoes() {
    AlgorithmChoices all = GroupRuns.run(2, Paths.STRIPED, ProcessGroup::explain).get(0);
    assertThat(choice(all, OpType.ALL_REDUCE, 1 << 20).stripes()).isEqualTo(3);
    assertThat(choice(all, OpType.GATHER, 1 << 20).stripes()).isEqualTo(1);
  }

  @Test
  void halvesAreAddedUpWithoutRoundingAtEveryStep() {
    AlgorithmChoices all =
        GroupRuns.run(
                2,
                GroupOptions.defaults().withTransports("tcp"),
                group -> group.explain(DType.FLOAT16, ReduceOp.SUM))
            .get(0);
    assertThat(choice(all, OpType.REDUCE, 1 << 20).algorithm()).isEqualTo("DirectReduce");
    assertThat(choice(all, OpType.REDUCE, 1 << 20).candidates())
        .anySatisfy(each -> assertThat(each.reason()).startsWith("would round at every step"));
  }

  @EnabledOnOs(OS.LINUX)
  @Test
  void whereNoMemoryCanBeMadeTheChoicesAreThoseOverTcp() {
    List<AlgorithmChoices> withoutMemory =
        GroupRuns.run(
            2,
            GroupOptions.defaults(),
            rank -> HostedRank.inNode(rank, "spark.collectives.shm.folder=/no/such/folder"),
            ProcessGroup::explain);
    List<AlgorithmChoices> overTcp =
        GroupRuns.run(
            2,
            GroupOptions.defaults().withTransports("tcp"),
            HostedRank::inNode,
            ProcessGroup::explain);
    assertThat(withoutMemory.get(0).choices()).isEqualTo(overTcp.get(0).choices());
  }

  @EnabledOnOs(OS.LINUX)
  @Test
  void onceRanksFoundThatTheyShareNoMemoryNoAlgorithmUsesIt(@TempDir Path parent)
      throws IOException {
    Path folder = Files.createDirectory(parent.resolve("shm"));
    AlgorithmChoices all =
        GroupRuns.run(
                2,
                GroupOptions.defaults(),
                rank -> HostedRank.inNode(rank, "spark.collectives.shm.folder=" + folder),
                group -> {
                  folder.toFile().delete();
                  group.allReduce(Tensor.of(new int[100_000]), ReduceOp.SUM).await();
                  return group.explain();
                })
            .get(0);
    assertThat(all.choices())
        .extracting(Choice::algorithm)
        .noneMatch(name -> name.matches("(Slot|Shared|Staged|Copied).*"));
  }

  @EnabledOnOs(OS.LINUX)
  @Test
  void moreRanksThanTensorsCanBePublishedSendTheirPartsByMessages() {
    for (int ranks : List.of(24, 25)) {
      AlgorithmChoices all =
          GroupRuns.run(ranks, GroupOptions.defaults(), HostedRank::inNode, ProcessGroup::explain)
              .get(0);
      for (OpType type : List.of(OpType.REDUCE_SCATTER_INTO, OpType.ALL_TO_ALL_INTO)) {
        assertThat(chosen(all, type, 1 << 20, true).startsWith("Shared"))
            .as(ranks + " ranks, " + type + ": " + chosen(all, type, 1 << 20, true))
            .isEqualTo(ranks == 24);
      }
      assertThat(chosen(all, OpType.BROADCAST, 1 << 20, true)).startsWith("Shared");
    }
  }

  @Test
  void whatCannotBeReducedIsRefused() {
    GroupRuns.run(
        1,
        GroupOptions.defaults(),
        group -> {
          assertThatThrownBy(() -> group.explain(DType.FLOAT32, ReduceOp.BAND))
              .isInstanceOf(IllegalArgumentException.class);
          return null;
        });
  }
}
