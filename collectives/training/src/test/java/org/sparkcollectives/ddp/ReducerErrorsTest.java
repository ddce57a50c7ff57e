package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests what all ranks are told when one of them does something wrong, and that they go on. */
@ExtendWith({LeakCheck.class, InvocationName.class})
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"HEAP", "DETAIL", "TCP"})
class ReducerErrorsTest {

  private static final ReducerOptions SMALL_BUCKETS = ReducerOptions.defaults().withBucketBytes(12);

  @org.junit.jupiter.params.Parameter private Paths paths;

  private interface Body {
    void run(ProcessGroup group, TestModel model, GradientReducer reducer) throws Exception;
  }

  private void reducers(int size, ReducerOptions options, Body body) {
    GroupRuns.run(
        size,
        paths,
        group -> {
          TestModel model = TestModel.of(3, 4, 5);
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), options)) {
            body.run(group, model, reducer);
            model.assertNextStepsWork(group, reducer);
          }
          return null;
        });
  }

  @Test
  void aParameterWithoutAMarkFailsTheStepOnAllRanksAndIsNamed() {
    for (boolean firstStep : new boolean[] {true, false}) {
      reducers(
          3,
          SMALL_BUCKETS,
          (group, model, reducer) -> {
            if (!firstStep) {
              model.step(reducer, 1);
            }
            model.zero(reducer);
            reducer.beginForward();
            reducer.beginBackward();
            for (int i = 0; i < model.size(); i++) {
              TestModel.add(reducer, i, 5 + group.rank());
              if (group.rank() != 1 || i != 2) {
                reducer.markReady(i);
              }
            }
            assertThatThrownBy(reducer::finish)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("rank 1 did not mark parameter 2 (\"p2\") as ready")
                .hasMessageContaining("here on rank " + group.rank())
                .hasMessageNotContaining("rank 0 did")
                .hasMessageNotContaining("rank 2 did");
            model.assertGradients(reducer, 5 + group.rank());
          });
    }
  }

  @Test
  void parametersThatNoRankMarksFailTheStepToo() {
    reducers(
        2,
        ReducerOptions.defaults(),
        (group, model, reducer) -> {
          reducer.beginBackward();
          reducer.markReady(1);
          assertThatThrownBy(reducer::finish)
              .hasMessageContaining(
                  "rank 0 did not mark parameter 0 (\"p0\"), parameter 2 (\"p2\")")
              .hasMessageContaining("rank 1 did not mark parameter 0");
        });
  }

  @Test
  void viewsAreZeroAfterAStepThatFailed() {
    GroupRuns.run(
        2,
        paths,
        group -> {
          TestModel model = new TestModel(false, new long[] {3}, new long[] {2});
          try (GradientReducer reducer =
              GradientReducer.create(group, model.parameters(), ReducerOptions.defaults())) {
            reducer.beginBackward();
            TestModel.fill(reducer, 0, 3);
            TestModel.fill(reducer, 1, 3);
            reducer.markReady(0);
            if (group.rank() == 0) {
              reducer.markReady(1);
            }
            assertThatThrownBy(reducer::finish).isInstanceOf(IllegalStateException.class);
            model.assertGradients(reducer, 0);
            model.assertNextStepsWork(group, reducer);
          }
          return null;
        });
  }

  @Test
  void aMistakeInAPausedStepIsNotToldToTheOtherRanks() {
    reducers(
        2,
        SMALL_BUCKETS,
        (group, model, reducer) -> {
          try (NoSync pause = reducer.noSync()) {
            assertThat(pause).isNotNull();
            reducer.beginBackward();
            reducer.markReady(1);
            if (group.rank() == 0) {
              assertThatThrownBy(() -> reducer.markReady(1))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("twice");
            }
            reducer.finish();
          }
          model.assertNextStepsWork(group, reducer);
        });
  }

  @Test
  void aSecondMarkThrowsAndFailsTheStepOnAllRanks() {
    reducers(
        2,
        SMALL_BUCKETS,
        (group, model, reducer) -> {
          reducer.beginForward();
          reducer.beginBackward();
          reducer.markReady(0);
          reducer.markReady(1);
          reducer.markReady(2);
          if (group.rank() == 1) {
            assertThatThrownBy(() -> reducer.markReady(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Rank 1 marked parameter 1 (\"p1\") twice");
          }
          assertThatThrownBy(reducer::finish)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("rank 1 marked parameter 1 (\"p1\") twice in one step");
        });
  }

  @Test
  void twoForwardPassesDoNotHideASecondBackwardPass() {
    reducers(
        2,
        ReducerOptions.defaults(),
        (group, model, reducer) -> {
          reducer.beginForward();
          reducer.beginForward();
          reducer.beginBackward();
          assertThatThrownBy(reducer::beginBackward)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("a step is under way");
          assertThatThrownBy(reducer::beginForward).isInstanceOf(IllegalStateException.class);
          model.parameters().forEach(each -> reducer.markReady(model.parameters().indexOf(each)));
          reducer.finish();
          assertThatThrownBy(() -> reducer.markReady(0))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("no step is under way");
          assertThatThrownBy(reducer::finish).isInstanceOf(IllegalStateException.class);
        });
  }

  @Test
  void aDiscardedStepThrowsOnTheOtherRanksAndIsNeverSilent() {
    for (int marked = 0; marked <= 3; marked++) {
      int before = marked;
      reducers(
          3,
          SMALL_BUCKETS,
          (group, model, reducer) -> {
            reducer.beginForward();
            if (group.rank() == 2) {
              if (before > 0) {
                reducer.beginBackward();
                for (int i = 0; i < before; i++) {
                  reducer.markReady(i);
                }
              }
              reducer.discardStep();
              return;
            }
            reducer.beginBackward();
            for (int i = 0; i < model.size(); i++) {
              reducer.markReady(i);
            }
            assertThatThrownBy(reducer::finish)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("rank 2 discarded the step")
                .hasMessageNotContaining("rank 0 d");
          });
    }
  }

  @Test
  void wrongCallsAreRefusedAndChangeNothing() {
    reducers(
        2,
        ReducerOptions.defaults(),
        (group, model, reducer) -> {
          assertThatThrownBy(reducer::discardStep)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("no step is under way");
          for (int parameter : new int[] {-1, 3}) {
            assertThatThrownBy(() -> reducer.markReady(parameter))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rank " + group.rank())
                .hasMessageContaining("no parameter " + parameter + ", only 0 to 2");
          }
          assertThatThrownBy(() -> reducer.sparseGradient(0))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("parameter 0 (\"p0\"), which has dense ones");
          assertThatThrownBy(() -> reducer.setWeight(1))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("withWeightedMean(true)");
          assertThatThrownBy(() -> reducer.setWeight(-1))
              .isInstanceOf(IllegalArgumentException.class);
          BitSet unused = new BitSet();
          unused.set(1);
          assertThatThrownBy(() -> reducer.beginBackward(unused))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("{1}")
              .hasMessageContaining("withFindUnused(true)");
          model.step(reducer, 0);
          assertThatThrownBy(() -> reducer.setCommHook(bucket -> null))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("before the first step");
        });
  }

  @Test
  void aStaticGraphThatLosesOrGainsAParameterFailsTheStepOnAllRanks() {
    GroupRuns.run(
        2,
        paths,
        group -> {
          TestModel model = TestModel.of(3, 4, 5);
          try (GradientReducer reducer =
              GradientReducer.create(
                  group, model.parameters(), SMALL_BUCKETS.withStaticGraph(true))) {
            marks(reducer, 0, 2);
            reducer.finish();
            marks(reducer, 0, 2);
            reducer.finish();
            marks(reducer, group.rank() == 0 ? new int[] {0} : new int[] {0, 2});
            assertThatThrownBy(reducer::finish)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("rank 0 did not mark parameter 2 (\"p2\")");
            marks(reducer, 2, 0);
            if (group.rank() == 1) {
              assertThatThrownBy(() -> reducer.markReady(1))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("which its first step did not use");
            }
            assertThatThrownBy(reducer::finish)
                .hasMessageContaining("rank 1 used parameter 1 (\"p1\")");
            marks(reducer, 2, 0);
            reducer.finish();
          }
          return null;
        });
  }

  private static void marks(GradientReducer reducer, int... parameters) {
    reducer.beginForward();
    reducer.beginBackward();
    Arrays.stream(parameters).forEach(reducer::markReady);
  }

  @Test
  void aGradientThatCannotBeReadFailsTheStepOnAllRanks() {
    GroupRuns.run(
        2,
        paths,
        group -> {
          List<Parameter> parameters = UnreadableGradient.onRankOne(group);
          try (GradientReducer reducer = GradientReducer.create(group, parameters, SMALL_BUCKETS)) {
            assertThatThrownBy(reducer::reduce)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(
                    "rank 1 could not read the gradient of parameter 0 (\"weight\")");
          }
          return null;
        });
  }
}
