package org.sparkcollectives.zero;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.join.EarlyTerminationException;
import org.sparkcollectives.join.Join;
import org.sparkcollectives.join.JoinOptions;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests a sharded optimizer on uneven inputs against one for all parameters and ranks. */
@ExtendWith(LeakCheck.class)
class ZeroJoinTest {

  private static final AdamOptions ADAM = new AdamOptions().withLearningRate(0.1);

  private static List<String> expected(int[] lengths, boolean divideByInitialSize) {
    SharedModel model = new SharedModel();
    AdamOptimizer adam = new AdamOptimizer(ADAM);
    int most = Arrays.stream(lengths).max().orElseThrow();
    for (int step = 0; step < most; step++) {
      int now = step;
      int[] active =
          IntStream.range(0, lengths.length).filter(rank -> lengths[rank] > now).toArray();
      model.step(adam, step, divideByInitialSize ? lengths.length : active.length, active);
    }
    return model.bits();
  }

  private static Void train(ZeroRedundancyOptimizer zero, SharedModel model, int steps) {
    for (int step = 0; step < steps; step++) {
      for (int i = 0; i < model.parameters().size(); i++) {
        zero.gradient(i).copyFrom(model.gradient(i, step, zero.processGroup().rank()));
      }
      zero.step();
    }
    return null;
  }

  private static List<String> join(ProcessGroup group, JoinOptions options, int steps)
      throws Exception {
    SharedModel model = new SharedModel();
    ZeroRedundancyOptimizer zero =
        ZeroRedundancyOptimizer.create(
            group, model.parameters(), new AdamOptimizer(ADAM), ZeroOptions.defaults());
    Join.run(options, List.of(zero), () -> train(zero, model, steps));
    return model.bits();
  }

  @Test
  void anyLengthsGiveTheBitsOfOneOptimizerOnAllRanks() {
    Random random = new Random(7);
    for (int size = 2; size <= 4; size++) {
      for (int i = 0; i < 6; i++) {
        int[] lengths = random.ints(size, 0, 8).toArray();
        boolean initial = i % 2 == 0;
        List<List<String>> bits =
            GroupRuns.run(
                size,
                Paths.HEAP,
                group ->
                    join(
                        group,
                        new JoinOptions().withDivideByInitialSize(initial),
                        lengths[group.rank()]));
        assertThat(bits)
            .as("%s, divided by the initial size: %s", Arrays.toString(lengths), initial)
            .containsOnly(expected(lengths, initial));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"DETAIL", "SHM", "TCP", "MIXED"})
  void aRankWithoutRowsStepsItsOwnParametersOnAllPaths(Paths paths) {
    int[] lengths = {2, 0, 3};
    assertThat(
            GroupRuns.run(3, paths, group -> join(group, new JoinOptions(), lengths[group.rank()])))
        .containsOnly(expected(lengths, true));
  }

  @Test
  void halvesAreDividedByTheRanksThatStillHaveRowsWithoutOverflow() {
    LocalOptimizer takesTheGradient =
        new LocalOptimizer() {
          @Override
          public void step(int parameter, Tensor value, Tensor gradient) {
            value.copyFrom(gradient);
          }

          @Override
          public Map<String, Tensor> state(int parameter) {
            return Map.of();
          }

          @Override
          public void restore(int parameter, Map<String, Tensor> state) {}
        };
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          short[] value = {0};
          ZeroRedundancyOptimizer zero =
              ZeroRedundancyOptimizer.create(
                  group,
                  List.of(Parameter.of("w", Tensor.wrap(DType.FLOAT16, value))),
                  takesTheGradient,
                  ZeroOptions.defaults());
          Join.run(
              new JoinOptions().withDivideByInitialSize(false),
              List.of(zero),
              () -> {
                if (group.rank() > 0) {
                  zero.gradient(0).copyFrom(new short[] {Float16.fromFloat(60_000)});
                  zero.step();
                }
                return null;
              });
          assertThat(value).containsExactly(Float16.fromFloat(60_000));
          return null;
        });
  }

  @Test
  void anEarlyEndComesBeforeAnyRankHasMadeTheStep() {
    int[] lengths = {4, 2, 3};
    assertThat(
            GroupRuns.run(
                3,
                Paths.HEAP,
                group -> {
                  SharedModel model = new SharedModel();
                  ZeroRedundancyOptimizer zero =
                      ZeroRedundancyOptimizer.create(
                          group,
                          model.parameters(),
                          new AdamOptimizer(ADAM),
                          ZeroOptions.defaults());
                  assertThatThrownBy(
                          () ->
                              Join.run(
                                  new JoinOptions().withThrowOnEarlyTermination(true),
                                  List.of(zero),
                                  () -> train(zero, model, lengths[group.rank()])))
                      .isInstanceOf(EarlyTerminationException.class);
                  group.barrier().await();
                  return model.bits();
                }))
        .containsOnly(expected(new int[] {2, 2, 2}, true));
  }
}
