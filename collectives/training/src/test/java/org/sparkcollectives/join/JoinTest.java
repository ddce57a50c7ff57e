package org.sparkcollectives.join;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;
import org.sparkcollectives.testing.TrainingTable;

/** Tests the protocol of a join, with joinables of the test's own. */
@ExtendWith(LeakCheck.class)
class JoinTest {

  private static final JoinOptions OPTIONS = new JoinOptions();

  private static <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(size, Paths.HEAP, body);
  }

  private static Void steps(AveragedSlope model, int count) {
    for (int step = 0; step < count; step++) {
      model.step((model.processGroup().rank() + 1.0) * (step + 1));
    }
    return null;
  }

  private static AveragedSlope join(ProcessGroup group, JoinOptions options, int count)
      throws Exception {
    AveragedSlope model = new AveragedSlope(group);
    Join.run(options, List.of(model), () -> steps(model, count));
    return model;
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "DETAIL", "SHM", "TCP", "MIXED"})
  void gradientsAndParametersAreThoseOfTheTable(Paths paths) throws IOException {
    for (JsonNode each : TrainingTable.cases("join")) {
      long[] steps = TrainingTable.longs(each.get("steps"));
      JsonNode ours = each.has("ours") ? each.get("ours") : each;
      JoinOptions options =
          OPTIONS.withDivideByInitialSize(each.get("divideByInitialWorldSize").booleanValue());
      List<AveragedSlope> models =
          GroupRuns.run(
              steps.length, paths, group -> join(group, options, (int) steps[group.rank()]));
      for (int rank = 0; rank < steps.length; rank++) {
        String name = each.get("name").textValue() + ", rank " + rank;
        AveragedSlope model = models.get(rank);
        assertClose(name, model.gradients(), ours.get("gradients").get(rank));
        assertClose(name, model.parameters(), ours.get("parameters").get(rank));
        assertThat(model.parameter())
            .as(name)
            .isCloseTo(ours.get("final").get(rank).doubleValue(), within(1e-6));
      }
    }
  }

  private static void assertClose(String name, List<Double> values, JsonNode expected) {
    assertThat(values.stream().mapToDouble(each -> each).toArray())
        .as(name)
        .containsExactly(TrainingTable.doubles(expected), within(1e-6));
  }

  @Test
  void anyLengthsEndWithTheStateOfTheHighestRankThatHadTheMostSteps() {
    for (int size = 2; size <= 4; size++) {
      for (int seed = 0; seed < 12; seed++) {
        int[] lengths = new Random(seed).ints(size, 0, 8).toArray();
        int most = Arrays.stream(lengths).max().orElseThrow();
        List<AveragedSlope> models =
            ranks(size, group -> join(group, OPTIONS, lengths[group.rank()]));
        for (int rank = 0; rank < size; rank++) {
          String name = Arrays.toString(lengths) + ", rank " + rank;
          assertThat(models.get(rank).shadowed()).as(name).isEqualTo(most - lengths[rank]);
          assertThat(models.get(rank).parameter()).as(name).isEqualTo(models.get(0).parameter());
        }
      }
    }
  }

  @Test
  void theBodysResultIsReturned() {
    assertThat(
            ranks(
                2,
                group -> Join.run(OPTIONS, List.of(new AveragedSlope(group)), () -> group.rank())))
        .containsExactly(0, 1);
  }

  @Test
  void theLastJoinerIsTheSameOnAllRanks() {
    List<Integer> last =
        ranks(
            3,
            group -> {
              AtomicInteger told = new AtomicInteger(-1);
              Joinable joinable = new RecordingJoinable(group, new ArrayList<>(), told);
              int steps = group.rank() == 2 ? 1 : 3;
              Join.run(
                  OPTIONS,
                  List.of(joinable),
                  () -> {
                    for (int step = 0; step < steps; step++) {
                      Join.notifyStep(joinable);
                    }
                    return null;
                  });
              return told.get();
            });
    assertThat(last).containsExactly(1, 1, 1);
  }

  /** Records the steps that it shadows; runs no collectives. */
  private record RecordingJoinable(
      ProcessGroup processGroup, List<String> shadowed, AtomicInteger last) implements Joinable {

    @Override
    public JoinHook joinHook(JoinOptions options) {
      return new JoinHook() {
        @Override
        public void shadowStep(JoinStep step) {
          shadowed.add(
              step.activeRanks() + " active, " + step.rows() + " rows, by " + step.divisor());
        }

        @Override
        public void afterAllJoined(int lastJoiner) {
          last.set(lastJoiner);
        }
      };
    }
  }

  private static RecordingJoinable recording(ProcessGroup group) {
    return new RecordingJoinable(group, new ArrayList<>(), new AtomicInteger(-1));
  }

  @Test
  void stepsWithoutSynchronisationAreNotShadowedAndRowsAreSummed() {
    List<List<String>> shadowed =
        ranks(
            3,
            group -> {
              RecordingJoinable joinable = recording(group);
              Join.run(
                  OPTIONS.withDivideByInitialSize(false),
                  List.of(joinable),
                  () -> {
                    for (int step = 0; step < 4 && group.rank() > 0; step++) {
                      Join.notifyStep(joinable, step % 2 == 1, 10 * group.rank() + step);
                    }
                    return null;
                  });
              return joinable.shadowed();
            });
    assertThat(shadowed.get(0))
        .containsExactly("2 active, 32.0 rows, by 2", "2 active, 36.0 rows, by 2");
    assertThat(shadowed.get(1)).isEmpty();
  }

  @Test
  void ranksThatDoNotPauseTogetherAreToldSoOnAllRanks() {
    ranks(
        3,
        group -> {
          RecordingJoinable joinable = recording(group);
          assertThatThrownBy(
                  () ->
                      Join.run(
                          OPTIONS,
                          List.of(joinable),
                          () ->
                              group.rank() == 0
                                  || Join.notifyStep(joinable, group.rank() == 1, 0)
                                      .orElseThrow()
                                      .synchronises()))
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("1 of the 2 ranks with rows synchronise");
          return null;
        });
  }

  @Test
  void onlyTheFirstJoinableBeginsSteps() {
    List<Long> operations =
        ranks(
            2,
            group -> {
              RecordingJoinable first = recording(group);
              RecordingJoinable second = recording(group);
              Join.run(
                  OPTIONS,
                  List.of(first, second),
                  () -> {
                    JoinStep step = Join.notifyStep(first).orElseThrow();
                    assertThat(Join.notifyStep(second)).containsSame(step);
                    assertThat(step.activeRanks()).isEqualTo(2);
                    assertThat(step.isKnown()).isTrue();
                    return null;
                  });
              assertThat(Join.notifyStep(first)).as("after the join").isEmpty();
              // One check, one step, the step that finds all ranks joined, and the last joiner.
              return group.allReduce(Tensor.of(0)).sequenceNumber();
            });
    assertThat(operations).containsExactly(4L, 4L);
  }

  @Test
  void aJoinThatIsSwitchedOffRunsTheBodyOnly() {
    ranks(
        2,
        group -> {
          RecordingJoinable joinable = recording(group);
          boolean empty =
              Join.run(
                  OPTIONS.withEnabled(false),
                  List.of(joinable),
                  () -> Join.notifyStep(joinable).isEmpty());
          assertThat(empty).isTrue();
          assertThat(joinable.last()).hasValue(-1);
          return null;
        });
  }

  @Test
  void optionsThatDifferAreNamedOnAllRanksAndTheGroupGoesOn() {
    ranks(
        3,
        group -> {
          assertThatThrownBy(() -> join(group, OPTIONS.withEnabled(group.rank() != 1), 2))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("Join of group")
              .hasMessageContaining("on rank " + group.rank() + " of 3")
              .hasMessageContaining("rank 0 gives JoinOptions")
              .hasMessageContaining("and rank 1 gives JoinOptions")
              .hasMessageContaining("enabled=false");
          List<AveragedSlope> models =
              group.rank() == 2
                  ? List.of(new AveragedSlope(group))
                  : List.of(new AveragedSlope(group), new AveragedSlope(group));
          assertThatThrownBy(() -> Join.run(OPTIONS, models, () -> null))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("rank 0 gives 2 joinables, and rank 2 gives 1 joinables");
          assertThat(join(group, OPTIONS, 1).gradients()).hasSize(1);
          return null;
        });
  }

  @Test
  void joinablesOfOtherRanksOrInTwoJoinsAreRefusedOnAllRanks() {
    ranks(
        2,
        group -> {
          ProcessGroup turned = group.newGroup(1, 0);
          RecordingJoinable plain = recording(group);
          RecordingJoinable other = recording(group.rank() == 0 ? turned : group);
          assertThatThrownBy(() -> Join.run(OPTIONS, List.of(plain, other), () -> null))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("all joinables of a join must have the same ranks");
          assertThatThrownBy(() -> Join.run(OPTIONS, List.of(plain, plain), () -> null))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("is given more than once");
          Join.run(
              OPTIONS,
              List.of(plain),
              () -> {
                assertThatThrownBy(() -> Join.run(OPTIONS, List.of(plain), () -> null))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("is in a join already");
                return null;
              });
          return null;
        });
  }

  @Test
  void whatIsNoJoinIsRefused() {
    assertThatThrownBy(() -> Join.run(OPTIONS, List.of(), () -> null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at least one joinable");
    ranks(
        1,
        group -> {
          RecordingJoinable first = recording(group);
          RecordingJoinable second = recording(group);
          assertThatThrownBy(() -> Join.notifyStep(first, true, Double.NaN))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("NaN");
          assertThatThrownBy(
                  () -> Join.run(OPTIONS, List.of(first, second), () -> Join.notifyStep(second)))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("the first joinable must begin each step");
          return null;
        });
  }
}
