package org.sparkcollectives.averaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;
import org.sparkcollectives.testing.TrainingTable;

/** Tests in which steps averagers average, and over which ranks. */
@ExtendWith(LeakCheck.class)
class ModelAveragersTest {

  private static final SortedMap<Long, Integer> PAIRS_AND_ALL = sizes(2, 2, 4, 4);

  private static SortedMap<Long, Integer> sizes(int... periodsAndSizes) {
    SortedMap<Long, Integer> sizes = new TreeMap<>();
    for (int i = 0; i < periodsAndSizes.length; i += 2) {
      sizes.put((long) periodsAndSizes[i], periodsAndSizes[i + 1]);
    }
    return sizes;
  }

  private static ModelAverager averager(ProcessGroup group, JsonNode table) {
    long warmup = table.get("warmupSteps").longValue();
    if (table.get("kind").textValue().equals("periodic")) {
      return new PeriodicModelAverager(group, table.get("period").longValue(), warmup);
    }
    SortedMap<Long, Integer> sizes = new TreeMap<>();
    table
        .get("periodToGroupSize")
        .forEach(each -> sizes.put(each.get(0).longValue(), each.get(1).intValue()));
    return HierarchicalModelAverager.create(group, sizes, warmup);
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "SHM", "TCP", "MIXED"})
  void parametersAfterEachStepAreThoseOfTheTable(Paths paths) throws IOException {
    for (JsonNode each : TrainingTable.cases("averagers")) {
      GroupRuns.run(
          each.get("worldSize").intValue(),
          paths,
          group -> {
            ModelAverager averager = averager(group, each);
            double[] expected = TrainingTable.doubles(each.get("parameter").get(group.rank()));
            float[] parameter = new float[1];
            float[] withoutGradient = new float[1];
            BitSet withGradient = new BitSet();
            withGradient.set(0);
            for (int step = 0; step < expected.length; step++) {
              parameter[0] += (group.rank() + 1f) * (step + 1);
              withoutGradient[0] += group.rank() + 1;
              assertThat(averager.step()).isEqualTo(step);
              assertGroup(averager, each, group, step);
              averager.average(
                  List.of(Tensor.of(parameter), Tensor.of(withoutGradient)), withGradient);
              assertThat((double) parameter[0])
                  .as("%s, rank %d, step %d", each, group.rank(), step)
                  .isCloseTo(expected[step], within(1e-6));
              assertThat(withoutGradient[0]).isEqualTo((group.rank() + 1f) * (step + 1));
            }
            return null;
          });
    }
  }

  private static void assertGroup(
      ModelAverager averager, JsonNode table, ProcessGroup group, int step) {
    if (averager instanceof HierarchicalModelAverager hierarchical) {
      JsonNode expected = table.get("groupOfStep").get(group.rank()).get(step);
      long[] ranks =
          hierarchical
              .groupOfStep()
              .map(each -> Arrays.stream(each.globalRanks()).asLongStream().toArray())
              .orElse(new long[0]);
      assertThat(ranks).isEqualTo(TrainingTable.longs(expected));
    }
  }

  @Test
  void aStepThatIsSetIsGoneOnFrom() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          ModelAverager averager = new PeriodicModelAverager(group, 3, 1);
          averager.setStep(4);
          float[] values = {group.rank()};
          assertThat(averager.average(List.of(Tensor.of(values)))).isTrue();
          assertThat(values).containsExactly(0.5f);
          assertThat(averager.average(List.of(Tensor.of(values)))).isFalse();
          assertThat(averager.step()).isEqualTo(6);
          assertThatThrownBy(() -> averager.setStep(-1))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("-1");
          return null;
        });
  }

  @Test
  void aStepWhoseAveragingThrowsIsNotCounted() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          ModelAverager averager = new PeriodicModelAverager(group, 2, 0);
          assertThatThrownBy(() -> averager.average(List.of(Tensor.of(new float[group.rank()]))))
              .isInstanceOf(IllegalArgumentException.class);
          assertThat(averager.step()).isZero();
          assertThat(averager.average(List.of(Tensor.of(1f)))).isTrue();
          return null;
        });
  }

  @Test
  void aSecondLevelAveragesOverItsBlockOfRanksAndTheLongestPeriodOverAll() {
    List<float[]> values =
        GroupRuns.run(
            4,
            Paths.HEAP,
            group -> {
              try (HierarchicalModelAverager averager =
                  HierarchicalModelAverager.create(group, PAIRS_AND_ALL, 1)) {
                float[] value = {group.rank()};
                float[] seen = new float[5];
                for (int step = 0; step < 5; step++) {
                  averager.average(List.of(Tensor.of(value)));
                  seen[step] = value[0];
                }
                assertThat(group.groups()).hasSize(1);
                return seen;
              } finally {
                assertThat(group.groups()).as("closed with the averager").isEmpty();
                group.barrier().await();
              }
            });
    assertThat(values.get(0)).containsExactly(0, 0, 0.5f, 0.5f, 1.5f);
    assertThat(values.get(3)).containsExactly(3, 3, 2.5f, 2.5f, 1.5f);
  }

  @Test
  void periodsAndSizesThatCannotBeAreRefusedOnAllRanks() {
    GroupRuns.run(
        4,
        Paths.HEAP,
        group -> {
          refused(group, sizes(), 0, "there is no period");
          refused(group, sizes(1, 2, 2, 2), 0, "the groups of the longest period, 2, have 2 ranks");
          refused(group, sizes(1, 3, 2, 4), 0, "4 ranks cannot be divided into groups of 3");
          refused(group, sizes(1, 0, 2, 4), 0, "groups of 0");
          refused(group, sizes(0, 2, 2, 4), 0, "1 or more steps, not 0");
          refused(group, PAIRS_AND_ALL, -1, "0 or more steps, not -1");
          assertThatThrownBy(
                  () -> HierarchicalModelAverager.create(group, PAIRS_AND_ALL, group.rank()))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("a warm-up of 0 steps, and rank 1 gives a warm-up of 1 steps");
          assertThatThrownBy(() -> new PeriodicModelAverager(group, 0, 0))
              .isInstanceOf(IllegalArgumentException.class);
          assertThatThrownBy(() -> new PeriodicModelAverager(group, 1, -1))
              .isInstanceOf(IllegalArgumentException.class);
          HierarchicalModelAverager.create(group, PAIRS_AND_ALL, 0).close();
          return null;
        });
  }

  /** Gives rank 2 arguments that cannot be, and the others good ones. */
  private static void refused(
      ProcessGroup group, SortedMap<Long, Integer> sizes, long warmup, String reason) {
    boolean wrong = group.rank() == 2;
    assertThatThrownBy(
            () ->
                HierarchicalModelAverager.create(
                    group, wrong ? sizes : PAIRS_AND_ALL, wrong ? warmup : 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("on rank " + group.rank() + " of 4")
        .hasMessageContaining(reason);
  }
}
