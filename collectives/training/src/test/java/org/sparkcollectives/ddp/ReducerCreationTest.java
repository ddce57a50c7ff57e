package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests that a reducer that one rank cannot create is refused on all ranks. */
@ExtendWith({LeakCheck.class, InvocationName.class})
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"HEAP", "DETAIL", "TCP"})
class ReducerCreationTest {

  private static final ReducerOptions SMALL_BUCKETS = ReducerOptions.defaults().withBucketBytes(12);

  @org.junit.jupiter.params.Parameter private Paths paths;

  @Test
  void differentModelsThrowOnAllRanksWithTheFirstDifference() {
    GroupRuns.run(
        3,
        paths,
        group -> {
          boolean other = group.rank() == 2;
          Tensor two = Tensor.allocate(DType.FLOAT32, 2);
          Tensor floats = Tensor.allocate(DType.FLOAT32, 2, 2);
          Tensor doubles = Tensor.allocate(DType.FLOAT64, 2, 2);
          Parameter a = Parameter.of("a", two);
          Parameter w = Parameter.of("w", floats);
          assertDifference(
              group,
              List.of(a, other ? Parameter.of("w", doubles) : w),
              "rank 0 gives parameter 1: \"w\", float32[2, 2], dense gradients",
              "and rank 2 gives parameter 1: \"w\", float64[2, 2], dense gradients");
          assertDifference(
              group,
              List.of(a, other ? Parameter.of("w", floats.reshape(4)) : w),
              "float32[2, 2]",
              "float32[4]");
          assertDifference(group, other ? List.of(w, a) : List.of(a, w), "\"a\"", "\"w\"");
          assertDifference(group, other ? List.of(a) : List.of(a, w), "\"w\"", "options");
          assertDifference(
              group,
              List.of(a, other ? new Parameter("w", floats, null, true) : w),
              "dense gradients",
              "sparse gradients");
          assertThatThrownBy(
                  () ->
                      GradientReducer.create(
                          group, List.of(a), SMALL_BUCKETS.withFindUnused(other)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("find unused false")
              .hasMessageContaining("find unused true");
          assertThatThrownBy(() -> ModelState.verify(group, other ? List.of(a) : List.of(a, w)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("and rank 2 gives nothing more");
          ModelState.verify(group, List.of(a, w));
          return null;
        });
  }

  private static void assertDifference(
      ProcessGroup group, List<Parameter> parameters, String first, String second) {
    assertThatThrownBy(() -> GradientReducer.create(group, parameters, SMALL_BUCKETS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("on rank " + group.rank() + " of 3: ")
        .hasMessageContaining(first)
        .hasMessageContaining(second);
  }

  @Test
  void parametersThatNoReducerCanAverageAreRefusedOnAllRanks() {
    GroupRuns.run(
        2,
        paths,
        group -> {
          assertThatThrownBy(() -> GradientReducer.create(group, List.of(), SMALL_BUCKETS))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("there are no parameters");
          assertThatThrownBy(
                  () ->
                      GradientReducer.create(
                          group, List.of(Parameter.of("n", Tensor.of(1, 2))), SMALL_BUCKETS))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("\"n\" is int32[2]");
          assertThatThrownBy(
                  () ->
                      GradientReducer.create(
                          group,
                          List.of(Parameter.of("x", Tensor.of(1f))),
                          SMALL_BUCKETS.withReadyOrder(1)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("position 1");
          return null;
        });
  }

  @Test
  void nullOfOneRankIsRefusedOnAllRanks() {
    GroupRuns.run(
        3,
        paths,
        group -> {
          boolean other = group.rank() == 1;
          List<Parameter> one = List.of(Parameter.of("x", Tensor.of(1f)));
          assertThatThrownBy(() -> GradientReducer.create(group, other ? null : one, SMALL_BUCKETS))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("on rank " + group.rank() + " of 3: ")
              .hasMessageContaining(other ? "" : "rank 1 refused its arguments: ")
              .hasMessageContaining("NullPointerException: parameters");
          assertThatThrownBy(() -> GradientReducer.create(group, one, other ? null : SMALL_BUCKETS))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("NullPointerException: options");
          List<Parameter> none = Arrays.asList((Parameter) null);
          assertThatThrownBy(() -> GradientReducer.create(group, other ? none : one, SMALL_BUCKETS))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("a parameter is null");
          assertThatThrownBy(() -> ModelState.verify(group, other ? null : one))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("NullPointerException: parameters");
          GradientReducer.create(group, one, SMALL_BUCKETS).close();
          return null;
        });
  }

  @Test
  void aRankThatCannotTakeItsMemoryIsToldToAll() {
    GroupRuns.run(
        2,
        paths,
        group -> {
          List<Parameter> parameters = UnreadableGradient.onRankOne(group);
          assertThatThrownBy(
                  () ->
                      GradientReducer.create(
                          group, parameters, SMALL_BUCKETS.withGradientAsBucketView(true)))
              .isInstanceOf(
                  group.rank() == 1 ? IllegalStateException.class : CollectiveException.class)
              .hasMessageContaining("memory of a reducer of gradients");
          group.barrier().await();
          return null;
        });
  }
}
