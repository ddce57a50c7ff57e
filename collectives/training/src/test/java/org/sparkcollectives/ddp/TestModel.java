package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.Paths;

/** A model of float32 parameters, and an engine that adds to their gradients. */
final class TestModel {

  private final List<Parameter> parameters = new ArrayList<>();

  /** Creates a model with a parameter of each shape, named p0, p1 and so on. */
  TestModel(boolean ownGradients, long[]... shapes) {
    for (long[] shape : shapes) {
      parameters.add(
          new Parameter(
              "p" + parameters.size(),
              Tensor.allocate(DType.FLOAT32, shape),
              ownGradients ? Tensor.allocate(DType.FLOAT32, shape) : null,
              false));
    }
  }

  /** Creates a model with as many parameters of one dimension, with gradients of their own. */
  static TestModel of(long... counts) {
    return new TestModel(
        true, Arrays.stream(counts).mapToObj(each -> new long[] {each}).toArray(long[][]::new));
  }

  /** Returns the paths over which gradients are moved in tests. */
  static Stream<Paths> paths() {
    return Paths.all().stream()
        .filter(List.of(Paths.HEAP, Paths.DETAIL, Paths.SHM, Paths.TCP, Paths.MIXED)::contains);
  }

  List<Parameter> parameters() {
    return parameters;
  }

  int size() {
    return parameters.size();
  }

  /** Adds to all elements of a gradient, as an engine does. */
  static void add(GradientReducer reducer, int parameter, float value) {
    float[] gradient = values(reducer, parameter);
    for (int i = 0; i < gradient.length; i++) {
      gradient[i] += value;
    }
    reducer.gradient(parameter).copyFrom(gradient);
  }

  static void fill(GradientReducer reducer, int parameter, float value) {
    float[] gradient = values(reducer, parameter);
    Arrays.fill(gradient, value);
    reducer.gradient(parameter).copyFrom(gradient);
  }

  void zero(GradientReducer reducer) {
    for (int i = 0; i < size(); i++) {
      fill(reducer, i, 0);
    }
  }

  static float[] values(GradientReducer reducer, int parameter) {
    float[] values = new float[(int) reducer.gradient(parameter).count()];
    reducer.gradient(parameter).copyTo(values);
    return values;
  }

  /** Makes a step in which every gradient gets a value, from the last to the first. */
  void step(GradientReducer reducer, float value) {
    reducer.beginForward();
    reducer.beginBackward();
    for (int i = size() - 1; i >= 0; i--) {
      add(reducer, i, value);
      reducer.markReady(i);
    }
    reducer.finish();
  }

  /** Checks that all elements of a gradient have a value. */
  static void assertGradient(GradientReducer reducer, int parameter, float value) {
    float[] expected = new float[(int) reducer.gradient(parameter).count()];
    Arrays.fill(expected, value);
    assertThat(values(reducer, parameter)).as("gradient %d", parameter).isEqualTo(expected);
  }

  void assertGradients(GradientReducer reducer, float value) {
    for (int i = 0; i < size(); i++) {
      assertGradient(reducer, i, value);
    }
  }

  /** Checks that the next steps average the gradients. */
  void assertNextStepsWork(ProcessGroup group, GradientReducer reducer) {
    for (int i = 0; i < 3; i++) {
      zero(reducer);
      step(reducer, group.rank() + 1);
      assertGradients(reducer, (group.size() + 1) / 2f);
    }
  }
}
