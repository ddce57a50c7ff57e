package org.sparkcollectives.averaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.Float16;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests the mean of parameters over the ranks. */
@ExtendWith(LeakCheck.class)
class ParameterAveragingTest {

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "DETAIL", "SHM", "TCP", "MIXED"})
  void parametersOfSeveralTypesAreReplacedByTheirMeanInPlace(Paths paths) {
    GroupRuns.run(
        3,
        paths,
        group -> {
          float[] floats = {group.rank(), 2 * group.rank(), 7};
          double[] doubles = {1e300 * group.rank()};
          short[] halves = {Float16.fromFloat(60000f), Float16.fromFloat(6e-8f)};
          float[] complex = {group.rank(), -group.rank()};
          Tensor allocated = group.allocate(DType.FLOAT32, 2, 1);
          allocated.copyFrom(new float[] {group.rank(), 1});
          ParameterAveraging.average(
              group,
              List.of(
                  Tensor.of(floats),
                  Tensor.of(doubles),
                  allocated,
                  Tensor.wrap(DType.FLOAT16, halves),
                  Tensor.wrap(DType.COMPLEX64, complex),
                  Tensor.of(new float[0])));
          assertThat(floats).containsExactly(1, 2, 7);
          assertThat(doubles).containsExactly(1e300);
          assertThat(halves)
              .as("neither infinite nor zero")
              .containsExactly(Float16.fromFloat(60000f), Float16.fromFloat(6e-8f));
          assertThat(complex).containsExactly(1, -1);
          float[] read = new float[2];
          allocated.copyTo(read);
          assertThat(read).containsExactly(1, 1);
          return null;
        });
  }

  @Test
  void eachTypeIsReducedOnceAndWidenedToNoOther() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          ParameterAveraging.average(
              group,
              List.of(Tensor.of(1f, 2f), Tensor.of(1d), Tensor.of(3f), Tensor.of(4d, 5d, 6d)));
          Stream<FlightRecord> reductions =
              group.flightRecorder().records().stream()
                  .filter(each -> each.opType() == OpType.ALL_REDUCE_COALESCED);
          assertThat(reductions.map(each -> each.dtype() + " " + each.inputCount()))
              .containsExactly("float32 3", "float64 4");
          return null;
        });
  }

  @Test
  void whatIsNotSelectedStaysAndNothingSelectedIsNothingReduced() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          float[] first = {group.rank()};
          float[] second = {group.rank()};
          BitSet selected = new BitSet();
          List<Tensor> parameters = List.of(Tensor.of(first), Tensor.of(second));
          ParameterAveraging.average(group, parameters, selected);
          selected.set(1);
          ParameterAveraging.average(group, parameters, selected);
          assertThat(first).containsExactly(group.rank());
          assertThat(second).containsExactly(0.5f);
          return null;
        });
  }

  @Test
  void ranksThatSelectDifferentParametersAreToldAndNoneChanges() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          float[] first = {group.rank()};
          float[] second = {10 * group.rank()};
          BitSet withGradient = new BitSet();
          withGradient.set(group.rank());
          assertThatThrownBy(
                  () ->
                      ParameterAveraging.average(
                          group, List.of(Tensor.of(first), Tensor.of(second)), withGradient))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("averaging of parameters of group")
              .hasMessageContaining("on rank " + group.rank() + " of 2")
              .hasMessageContaining(
                  "rank 0 gives parameter 0, float32 x 1, and rank 1 gives parameter 1,"
                      + " float32 x 1");
          assertThatThrownBy(
                  () ->
                      ParameterAveraging.average(
                          group, List.of(group.rank() == 0 ? Tensor.of(first) : Tensor.of(1d))))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("float64 x 1");
          assertThat(first).containsExactly(group.rank());
          ParameterAveraging.average(group, List.of(Tensor.of(first)));
          assertThat(first).containsExactly(0.5f);
          return null;
        });
  }

  @Test
  void whatHasNoMeanIsRefusedOnAllRanksAndTheGroupGoesOn() {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          List<Tensor> none = new ArrayList<>(Arrays.asList((Tensor) null));
          for (List<Tensor> wrong : List.of(List.of(Tensor.of(1, 2)), none)) {
            float[] values = {group.rank()};
            assertThatThrownBy(
                    () ->
                        ParameterAveraging.average(
                            group, group.rank() == 1 ? wrong : List.of(Tensor.of(values))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                    wrong == none
                        ? "parameter 0 is null"
                        : "parameter 0 is int32[2], which has no mean");
            assertThat(values).containsExactly(group.rank());
          }
          assertThatThrownBy(
                  () ->
                      ParameterAveraging.average(
                          group, List.of(Tensor.of(1f)), group.rank() == 1 ? null : new BitSet()))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("NullPointerException: selected");
          BitSet outside = new BitSet();
          outside.set(2);
          assertThatThrownBy(
                  () -> ParameterAveraging.average(group, List.of(Tensor.of(1f)), outside))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("parameter 2 is selected, and there are 1");
          group.barrier().await();
          return null;
        });
  }
}
