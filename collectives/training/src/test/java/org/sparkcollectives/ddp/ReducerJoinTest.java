package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.join.Join;
import org.sparkcollectives.join.JoinOptions;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests the reducer with uneven numbers of steps and rows. */
@ExtendWith(LeakCheck.class)
class ReducerJoinTest {

  private static final JoinOptions JOIN = new JoinOptions();

  private static CompletableFuture<Tensor> allReduce(GradientBucket bucket) {
    float[] values = new float[(int) bucket.buffer().count()];
    bucket.buffer().copyTo(values);
    for (int i = 0; i < values.length; i++) {
      values[i] /= (float) bucket.divisor();
    }
    bucket.buffer().copyFrom(values);
    return bucket
        .group()
        .allReduce(bucket.buffer(), ReduceOp.SUM)
        .future()
        .thenApply(tensors -> tensors.get(0));
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "DETAIL", "SHM", "TCP", "MIXED"})
  void gradientsAndParametersAreThoseOfTorchOrBetter(Paths paths) {
    for (int size = 2; size <= 3; size++) {
      GroupRuns.run(
          size,
          paths,
          group -> {
            for (JsonNode each : Tables.of("join")) {
              if (each.get("steps").size() == group.size()) {
                train(group, each, false);
                train(group, each, true);
              }
            }
            return null;
          });
    }
  }

  private static void train(ProcessGroup group, JsonNode row, boolean views) throws Exception {
    JsonNode expected = row.has("ours") ? row.get("ours") : row;
    JoinOptions join =
        JOIN.withDivideByInitialSize(row.get("divideByInitialWorldSize").asBoolean());
    ReducerOptions options =
        BucketPlanTest.options(row.get("options")).withGradientAsBucketView(views);
    TestModel model = TestModel.of(1);
    try (GradientReducer reducer = GradientReducer.create(group, model.parameters(), options)) {
      if (row.get("hook").asText().equals("allreduce")) {
        reducer.setCommHook(ReducerJoinTest::allReduce);
      }
      float[] value = (float[]) model.parameters().get(0).value().array();
      Join.run(
          join,
          List.of(reducer),
          () -> {
            int steps = row.get("steps").get(group.rank()).asInt();
            for (int s = 0; s < steps; s++) {
              TestModel.fill(reducer, 0, 0);
              reducer.beginForward();
              reducer.beginBackward();
              TestModel.add(reducer, 0, (group.rank() + 1) * (s + 1));
              reducer.markReady(0);
              reducer.finish();
              value[0] -= TestModel.values(reducer, 0)[0];
              assertThat(TestModel.values(reducer, 0)[0])
                  .as("%s", row)
                  .isCloseTo(number(expected.get("gradients"), group.rank(), s), within(1e-6f));
              assertThat(value[0])
                  .isCloseTo(number(expected.get("parameters"), group.rank(), s), within(1e-5f));
            }
            return null;
          });
      assertThat(value[0])
          .as("%s", row)
          .isCloseTo((float) expected.get("final").get(group.rank()).asDouble(), within(1e-5f));
    }
  }

  private static float number(JsonNode rows, int rank, int step) {
    return (float) rows.get(rank).get(step).asDouble();
  }

  @Test
  void aRankWithoutRowsGetsTheMeansOfTheOthers() {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          TestModel model = TestModel.of(3, 2);
          try (GradientReducer reducer =
              GradientReducer.create(
                  group,
                  model.parameters(),
                  ReducerOptions.defaults().withBucketBytes(8).withFindUnused(true))) {
            Join.run(
                JOIN,
                List.of(reducer),
                () -> {
                  for (int s = 0; s < 4 - group.rank(); s++) {
                    model.zero(reducer);
                    model.step(reducer, 3);
                  }
                  return null;
                });
            // In the last step only rank 0 had rows.
            model.assertGradients(reducer, 1);
          }
          return null;
        });
  }

  @Test
  void pausedStepsAndRebuiltBucketsGoOnWithoutTheRanksThatHaveJoined() {
    GroupRuns.run(
        2,
        Paths.TCP,
        group -> {
          TestModel model = TestModel.of(30, 20, 10);
          ReducerOptions options = ReducerOptions.defaults().withBucketBytes(100);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), options)) {
            Join.run(
                JOIN,
                List.of(reducer),
                () -> {
                  if (group.rank() == 1) {
                    return null;
                  }
                  model.step(reducer, 2);
                  for (int s = 0; s < 3; s++) {
                    model.zero(reducer);
                    NoSync pause = reducer.noSync();
                    model.step(reducer, 2);
                    model.assertGradients(reducer, 2);
                    pause.close();
                    model.step(reducer, 2);
                    model.assertGradients(reducer, 2);
                  }
                  reducer.beginForward();
                  NoSync pause = reducer.noSync();
                  assertThatThrownBy(reducer::beginBackward)
                      .isInstanceOf(IllegalStateException.class)
                      .hasMessageContaining("noSync must cover the forward pass");
                  pause.close();
                  model.parameters().forEach(each -> assertThat(each).isNotNull());
                  reducer.reduce();
                  return null;
                });
            assertThat(reducer.buckets().stream().map(GradientBucket::parameters))
                .containsExactly(new int[] {2, 1}, new int[] {0});
          }
          return null;
        });
  }

  @Test
  void aStepThatFailsInAJoinFailsOnTheJoinedRanksToo() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          TestModel model = TestModel.of(3);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), ReducerOptions.defaults())) {
            assertThatThrownBy(
                    () ->
                        Join.run(
                            JOIN,
                            List.of(reducer),
                            () -> {
                              if (group.rank() == 1) {
                                reducer.beginForward();
                                reducer.beginBackward();
                                reducer.finish();
                              }
                              return null;
                            }))
                // The first rank that throws ends the group, maybe before the other has thrown.
                .isInstanceOfAny(IllegalStateException.class, CollectiveException.class)
                .satisfies(
                    thrown ->
                        assertThat(thrown.getMessage() + thrown.getCause())
                            .contains("rank 1 did not mark parameter 0"));
          }
          return null;
        });
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "SHM", "TCP"})
  void theWeightedMeanIsThatOfAllRowsWhateverTheirDistribution(Paths paths) {
    GroupRuns.run(
        3,
        paths,
        group -> {
          for (double[] rows : new double[][] {{1, 1, 1}, {5, 0, 2}, {0, 0, 7}, {0.5, 2.5, 4}}) {
            for (boolean hook : new boolean[] {false, true}) {
              weighted(group, rows, hook);
            }
          }
          return null;
        });
  }

  private static void weighted(ProcessGroup group, double[] rows, boolean hook) {
    TestModel model = TestModel.of(3, 2);
    ReducerOptions options = ReducerOptions.defaults().withBucketBytes(8).withWeightedMean(true);
    float expected =
        (float) ((1 * rows[0] + 2 * rows[1] + 3 * rows[2]) / (rows[0] + rows[1] + rows[2]));
    try (GradientReducer reducer = GradientReducer.create(group, model.parameters(), options)) {
      if (hook) {
        reducer.setCommHook(ReducerJoinTest::allReduce);
      }
      for (int s = 0; s < 3; s++) {
        model.zero(reducer);
        reducer.setWeight(rows[group.rank()]);
        model.step(reducer, group.rank() + 1);
        assertThat(TestModel.values(reducer, 1)[1]).isCloseTo(expected, within(1e-6f));
        assertThat(TestModel.values(reducer, 0)[2]).isCloseTo(expected, within(1e-6f));
      }
    }
  }

  @Test
  void theWeightedMeanGoesOnWithoutTheRanksThatHaveJoined() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          TestModel model = TestModel.of(3);
          try (GradientReducer reducer =
              GradientReducer.create(
                  group, model.parameters(), ReducerOptions.defaults().withWeightedMean(true))) {
            Join.run(
                JOIN,
                List.of(reducer),
                () -> {
                  for (int s = 0; s < (group.rank() == 0 ? 1 : 3); s++) {
                    model.zero(reducer);
                    reducer.setWeight(group.rank() == 0 ? 3 : 1);
                    model.step(reducer, group.rank() == 0 ? 4 : 8);
                    model.assertGradients(reducer, s == 0 ? 5 : 8);
                  }
                  return null;
                });
            model.assertGradients(reducer, 8);
          }
          return null;
        });
  }

  @Test
  void aMissingWeightFailsTheStepOnAllRanks() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          TestModel model = TestModel.of(3);
          try (GradientReducer reducer =
              GradientReducer.create(
                  group, model.parameters(), ReducerOptions.defaults().withWeightedMean(true))) {
            if (group.rank() == 0) {
              reducer.setWeight(2);
            }
            assertThatThrownBy(() -> model.step(reducer, 1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("rank 1 did not call setWeight before the step");
            reducer.setWeight(0);
            model.zero(reducer);
            model.step(reducer, 1);
            model.assertGradients(reducer, 0);
          }
          return null;
        });
  }

  @Test
  void afterPausedStepsTheWeightOfTheStepThatAveragesCounts() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          TestModel model = TestModel.of(3);
          try (GradientReducer reducer =
              GradientReducer.create(
                  group, model.parameters(), ReducerOptions.defaults().withWeightedMean(true))) {
            try (NoSync pause = reducer.noSync()) {
              assertThat(pause).isNotNull();
              reducer.setWeight(100 * group.rank());
              model.step(reducer, 1 + group.rank());
              model.step(reducer, 1 + group.rank());
            }
            reducer.setWeight(3 - 2 * group.rank());
            model.step(reducer, 1 + group.rank());
            model.assertGradients(reducer, (3 * 3 + 6 * 1) / 4f);
          }
          return null;
        });
  }

  @Test
  void halvesAreDividedByTheRanksThatStillHaveRowsWithoutOverflow() {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          Tensor gradient = Tensor.allocate(DType.FLOAT16, 1);
          short large = Float16.fromFloat(60_000);
          try (GradientReducer reducer =
              GradientReducer.create(
                  group,
                  List.of(new Parameter("w", Tensor.allocate(DType.FLOAT16, 1), gradient, false)),
                  ReducerOptions.defaults())) {
            Join.run(
                JOIN.withDivideByInitialSize(false),
                List.of(reducer),
                () -> {
                  for (int s = 0; s < (group.rank() == 2 ? 0 : 2); s++) {
                    gradient.copyFrom(new short[] {large});
                    reducer.reduce();
                    assertThat(Float16.toFloat(((short[]) gradient.array())[0]))
                        .isCloseTo(60_000, within(32f));
                  }
                  return null;
                });
          }
          return null;
        });
  }
}
