package org.sparkcollectives.zero;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests the state of all parameters: brought to one rank, and given back to any number of them. */
@ExtendWith(LeakCheck.class)
class ZeroConsolidationTest {

  private static final AdamOptions ADAM = new AdamOptions().withLearningRate(0.1);

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "TCP", "MIXED"})
  void aConsolidatedStateGoesOnInAGroupOfAnotherSize(Paths paths) {
    // The gradients are those of three ranks, whatever the size of the group.
    List<String> expected = SharedModel.trained(new AdamOptimizer(ADAM), 6, 3);
    ZeroState[] state = new ZeroState[1];
    List<List<String>> bits = new ArrayList<>();
    int root = 2;
    for (int size : new int[] {3, 4, 1, 2}) {
      bits.add(
          GroupRuns.run(
                  size,
                  paths,
                  group -> {
                    int[] step = {(int) steps(state[0])};
                    SharedModel model = new SharedModel();
                    AdamOptimizer replay = new AdamOptimizer(ADAM);
                    for (int i = 0; i < step[0]; i++) {
                      model.step(replay, i, 3, 0, 1, 2);
                    }
                    ZeroRedundancyOptimizer zero =
                        ZeroRedundancyOptimizer.create(
                            group,
                            model.parameters(),
                            new AdamOptimizer(ADAM),
                            ZeroOptions.defaults()
                                .withAveragedGradients(i -> model.mean(i, step[0], 3, 0, 1, 2)));
                    int holder = Math.min(root, size - 1);
                    if (state[0] != null) {
                      zero.restore(
                          group.rank() == holder ? Optional.of(state[0]) : Optional.empty(),
                          holder);
                    }
                    zero.step();
                    step[0]++;
                    Optional<ZeroState> all = zero.consolidate(holder);
                    assertThat(all.isPresent()).isEqualTo(group.rank() == holder);
                    group.barrier().await();
                    all.ifPresent(each -> state[0] = each);
                    if (size < 3) {
                      zero.step();
                      step[0]++;
                      zero.consolidate(holder).ifPresent(each -> state[0] = each);
                    }
                    return model.bits();
                  })
              .get(0));
    }
    assertThat(state[0].parameters()).hasSize(6);
    assertThat(steps(state[0])).isEqualTo(6);
    assertThat(bits.get(3)).isEqualTo(expected);
  }

  private static long steps(ZeroState state) {
    long[] step = {0};
    if (state != null) {
      state.parameters().get("p3").get("step").copyTo(step);
    }
    return step[0];
  }

  @Test
  void aConsolidatedStateIsACopyWithShapesAndNamesInTheOrderOfTheModel() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          ZeroTraining training = new ZeroTraining(group, ADAM);
          Optional<ZeroState> none = training.zero.consolidate(0);
          none.ifPresent(
              each ->
                  assertThat(each.parameters().values()).as("no step yet").allMatch(Map::isEmpty));
          training.steps(1);
          Optional<ZeroState> state = training.zero.consolidate(0);
          training.steps(1);
          if (state.isPresent()) {
            assertThat(state.get().parameters().keySet())
                .containsExactly("p0", "p1", "p2", "p3", "p4", "p5");
            assertThat(state.get().parameters().get("p0"))
                .containsOnlyKeys("mean", "square", "step");
            assertThat(state.get().parameters().get("p0").get("mean").shape())
                .containsExactly(5, 3);
            assertThat(state.get().parameters().get("p2").get("mean").count()).isZero();
            assertThat(steps(state.get())).isEqualTo(1);
          }
          return null;
        });
  }

  @Test
  void wrongRootsAndStatesAreRefusedOnAllRanksAndTheGroupGoesOn() {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          ZeroTraining training = new ZeroTraining(group, ADAM);
          ZeroRedundancyOptimizer zero = training.zero;
          training.steps(1);
          assertThatThrownBy(() -> zero.consolidate(3))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("the root 3 is not a rank of the group, only 0 to 2");
          assertThatThrownBy(() -> zero.consolidate(group.rank()))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("rank 0 gives the root 0, and rank 1 gives the root 1");
          Optional<ZeroState> state = zero.consolidate(1);
          assertThatThrownBy(() -> zero.restore(state, 0))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("the root must give a state, and gives none");
          Map<String, Map<String, Tensor>> other = new LinkedHashMap<>();
          state.ifPresent(each -> other.putAll(each.parameters()));
          other.remove("p3");
          assertThatThrownBy(() -> zero.restore(Optional.of(ZeroState.of(other)), 1))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("the state is that of the parameters [p0, p1, p2, p4, p5]");
          other.put("p3", Map.of("momentum", Tensor.of(1f)));
          int owner = zero.partition().owner(3);
          assertThatThrownBy(() -> zero.restore(Optional.of(ZeroState.of(other)), 1))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining(group.rank() == owner ? "" : "rank " + owner + " refused")
              .hasMessageContaining("parameter 3 has the parts [momentum]");
          zero.restore(state, 1);
          training.steps(1);
          assertThat(training.model.bits())
              .isEqualTo(SharedModel.trained(new AdamOptimizer(ADAM), 2, 3));
          return null;
        });
  }
}
