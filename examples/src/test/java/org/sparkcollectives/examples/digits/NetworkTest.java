package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NetworkTest {

  private static List<Sample> digits() throws IOException {
    return Digits.read();
  }

  private static NetworkShape shape(int hidden) {
    return new NetworkShape(64, hidden, 10);
  }

  @Test
  void theDataAreTheDigitsOfTheSource() throws IOException {
    assertThat(digits()).hasSize(1797);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 7})
  void theGradientIsTheSlopeOfTheLoss(int hidden) throws IOException {
    Sample digit = digits().get(3);
    double[] parameters = shape(hidden).randomParameters(1);
    double[] gradient = new double[parameters.length];
    new Network(shape(hidden), parameters).addGradient(digit, gradient);
    double step = 1e-6;
    for (int i = 0; i < parameters.length; i += 13) {
      double[] more = parameters.clone();
      double[] less = parameters.clone();
      more[i] += step;
      less[i] -= step;
      double[] unused = new double[parameters.length];
      double slope =
          (new Network(shape(hidden), more).addGradient(digit, unused)
                  - new Network(shape(hidden), less).addGradient(digit, unused))
              / (2 * step);
      assertThat(gradient[i]).isCloseTo(slope, within(1e-5));
    }
  }

  @Test
  void gradientStepsMakeTheLossSmaller() throws IOException {
    List<Sample> images = digits().subList(0, 100);
    TrainingOptions options = new TrainingOptions(shape(16), 1, 100, 0.1, 0.5, 1);
    double[] parameters = shape(16).randomParameters(1);
    Network network = new Network(shape(16), parameters);
    Gradient gradient = new Gradient(parameters.length);
    double[] velocity = new double[parameters.length];
    gradient.compute(network, images);
    double before = gradient.loss();
    for (int step = 0; step < 300; step++) {
      gradient.compute(network, images);
      gradient.apply(parameters, velocity, options);
    }
    gradient.compute(network, images);
    assertThat(gradient.loss()).isLessThan(before / 4);
    assertThat(network.accuracy(images)).isGreaterThan(0.9);
  }

  @Test
  void parametersOfAnotherShapeAreRefused() {
    assertThatThrownBy(() -> new Network(shape(3), new double[5]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("5 parameters instead of 235");
  }
}
