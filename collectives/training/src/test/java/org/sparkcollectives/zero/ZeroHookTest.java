package org.sparkcollectives.zero;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.CommHooks;
import org.sparkcollectives.ddp.GradientReducer;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.ddp.PostLocalSgd;
import org.sparkcollectives.ddp.ReducerOptions;
import org.sparkcollectives.join.JoinOptions;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests a sharded optimizer whose steps a reducer's hook makes, bucket by bucket. */
@ExtendWith(LeakCheck.class)
class ZeroHookTest {

  private static final AdamOptions ADAM = new AdamOptions().withLearningRate(0.1);
  private static final int STEPS = 4;

  private static GradientReducer reducer(ProcessGroup group, List<Parameter> parameters) {
    return GradientReducer.create(group, parameters, ReducerOptions.defaults().withBucketBytes(64));
  }

  private static ZeroRedundancyOptimizer optimizer(
      ProcessGroup group, List<Parameter> parameters, LocalOptimizer local) {
    return ZeroRedundancyOptimizer.create(
        group, parameters, local, ZeroOptions.defaults().withStepsInHook());
  }

  private static void step(GradientReducer reducer, SharedModel model, int step) {
    for (int i = 0; i < model.parameters().size(); i++) {
      reducer.gradient(i).copyFrom(model.gradient(i, step, reducer.processGroup().rank()));
    }
    reducer.beginForward();
    reducer.reduce();
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "DETAIL", "SHM", "TCP", "MIXED"})
  void adamInAHookEqualsAnUnsharedAdamBitForBit(Paths paths) {
    for (int size = 1; size <= 4; size++) {
      List<String> expected = SharedModel.trained(new AdamOptimizer(ADAM), STEPS, size);
      GroupRuns.run(
          size,
          paths,
          group -> {
            SharedModel model = new SharedModel();
            AdamOptimizer own = new AdamOptimizer(ADAM);
            try (GradientReducer reducer = reducer(group, model.parameters())) {
              ZeroRedundancyOptimizer zero = optimizer(group, model.parameters(), own);
              reducer.setCommHook(zero.hook(CommHooks.allReduce()));
              for (int step = 0; step < STEPS; step++) {
                step(reducer, model, step);
              }
              assertThat(model.bits()).isEqualTo(expected);
              for (int i = 0; i < model.parameters().size(); i++) {
                assertThat(own.state(i).isEmpty())
                    .isEqualTo(zero.partition().owner(i) != group.rank());
              }
            }
            return null;
          });
    }
  }

  @Test
  void aStepThatThrowsOnTheOwnerFailsTheStepOfAllRanks() {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          SharedModel model = new SharedModel();
          try (GradientReducer reducer = reducer(group, model.parameters())) {
            reducer.setCommHook(
                optimizer(group, model.parameters(), new FailingOptimizer(3))
                    .hook(CommHooks.allReduce()));
            assertThatThrownBy(() -> step(reducer, model, 0))
                .isInstanceOf(CollectiveException.class)
                .hasStackTraceContaining("no step for parameter 3");
          }
          return null;
        });
  }

  @Test
  void aReducerOfOtherParametersIsToldWhichDiffer() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          SharedModel model = new SharedModel();
          List<Parameter> fewer = model.parameters().subList(0, 2);
          try (GradientReducer reducer = reducer(group, model.parameters())) {
            reducer.setCommHook(
                optimizer(group, fewer, new AdamOptimizer(ADAM)).hook(CommHooks.allReduce()));
            assertThatThrownBy(() -> step(reducer, model, 0))
                .hasStackTraceContaining("which has fewer")
                .hasStackTraceContaining("give both the same list of parameters");
          }
          return null;
        });
  }

  @Test
  void aReducerOfFewerParametersIsToldWhichItDoesNotHave() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          SharedModel model = new SharedModel();
          try (GradientReducer reducer = reducer(group, model.parameters().subList(0, 5))) {
            reducer.setCommHook(
                optimizer(group, model.parameters(), new AdamOptimizer(ADAM))
                    .hook(CommHooks.allReduce()));
            assertThatThrownBy(() -> reducer.reduce())
                .hasStackTraceContaining("parameter p5 of the optimizer is in no bucket");
          }
          return null;
        });
  }

  @Test
  void aReducerOfTheSameParametersInAnotherOrderIsRefused() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          Parameter first = Parameter.of("first", Tensor.of(1f, 2f));
          Parameter second = Parameter.of("second", Tensor.of(3f, 4f));
          try (GradientReducer reducer = reducer(group, List.of(first, second))) {
            reducer.setCommHook(
                optimizer(group, List.of(second, first), new AdamOptimizer(ADAM))
                    .hook(CommHooks.allReduce()));
            assertThatThrownBy(() -> reducer.reduce())
                .hasStackTraceContaining("give both the same list of parameters");
          }
          return null;
        });
  }

  @Test
  void aReducerWhoseRanksHaveAnotherOrderIsRefused() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          List<Parameter> parameters = List.of(Parameter.of("w", Tensor.of(1f)));
          try (ProcessGroup reversed = group.split(0, -group.rank());
              GradientReducer reducer = reducer(reversed, parameters)) {
            reducer.setCommHook(
                optimizer(group, parameters, new AdamOptimizer(ADAM)).hook(CommHooks.allReduce()));
            assertThatThrownBy(() -> reducer.reduce())
                .hasStackTraceContaining("the reducer has the global ranks [1, 0]")
                .hasStackTraceContaining("create both in the same group");
          }
          return null;
        });
  }

  @Test
  void eachKindOfOptimizerSaysWhoMakesItsSteps() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          List<Parameter> parameters = List.of(Parameter.of("w", Tensor.of(1f)));
          ZeroRedundancyOptimizer inHook = optimizer(group, parameters, new AdamOptimizer(ADAM));
          assertThatThrownBy(inHook::step)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("hook()");
          assertThatThrownBy(() -> inHook.joinHook(new JoinOptions()))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("the reducer without this optimizer");
          assertThatThrownBy(() -> inHook.hook(new PostLocalSgd(group, 1, true)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("PostLocalSgd");
          assertThatThrownBy(() -> inHook.gradient(0))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("by the reducer of hook()");
          ZeroRedundancyOptimizer alone =
              ZeroRedundancyOptimizer.create(
                  group, parameters, new AdamOptimizer(ADAM), ZeroOptions.defaults());
          assertThatThrownBy(() -> alone.hook(CommHooks.allReduce()))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("withStepsInHook");
          assertThatThrownBy(
                  () ->
                      ZeroRedundancyOptimizer.create(
                          group,
                          parameters,
                          new AdamOptimizer(ADAM),
                          group.rank() == 0
                              ? ZeroOptions.defaults().withStepsInHook()
                              : ZeroOptions.defaults()))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("averaged by a reducer's hook");
          return null;
        });
  }
}
