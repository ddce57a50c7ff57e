package org.sparkcollectives.zero;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

/** Tests the formulas of the optimizers, and their state. */
class LocalOptimizersTest {

  private static double[] run(LocalOptimizer optimizer, double... gradients) {
    double[] value = {1};
    double[] seen = new double[gradients.length];
    for (int i = 0; i < gradients.length; i++) {
      optimizer.step(0, Tensor.of(value), Tensor.of(gradients[i]));
      seen[i] = value[0];
    }
    return seen;
  }

  @Test
  void gradientDescentGoesDownByTheLearningRate() {
    assertThat(run(new SgdOptimizer(new SgdOptions(0.5)), 1, 2)).containsExactly(0.5, -0.5);
    assertThat(run(new SgdOptimizer(new SgdOptions(0.5).withWeightDecay(0.5)), 1, 2))
        .containsExactly(1 - 0.5 * 1.5, 0.25 - 0.5 * 2.125);
  }

  @Test
  void momentumKeepsAShareOfTheLastDirection() {
    SgdOptions momentum = new SgdOptions(1).withMomentum(0.5);
    assertThat(run(new SgdOptimizer(momentum), 1, 2)).containsExactly(0, -2.5);
    assertThat(run(new SgdOptimizer(momentum.withDampening(0.5)), 1, 2))
        .as("the first gradient is not dampened")
        .containsExactly(0, -1.5);
    assertThat(run(new SgdOptimizer(momentum.withNesterov(true)), 1, 2))
        .containsExactly(1 - 1.5, -0.5 - (2 + 0.5 * 2.5));
  }

  @Test
  void adamsFirstStepIsTheLearningRateAndLaterOnesFollowTheMeans() {
    AdamOptions options = new AdamOptions().withLearningRate(0.1);
    double[] seen = run(new AdamOptimizer(options), 4, -2);
    assertThat(seen[0]).isCloseTo(0.9, within(1e-8));
    double mean = (0.9 * 0.1 * 4 - 0.1 * 2) / (1 - 0.81);
    double square = (0.999 * 0.001 * 16 + 0.001 * 4) / (1 - 0.999 * 0.999);
    assertThat(seen[1]).isCloseTo(seen[0] - 0.1 * mean / Math.sqrt(square), within(1e-8));
    assertThat(run(new AdamOptimizer(options.withBetas(0, 0).withEpsilon(1)), 4)[0])
        .isCloseTo(1 - 0.1 * 4 / 5, within(1e-12));
    assertThat(
            run(new AdamOptimizer(options.withBetas(0, 0).withEpsilon(1).withWeightDecay(2)), 2)[0])
        .isCloseTo(1 - 0.1 * 4 / 5, within(1e-12));
  }

  @Test
  void tensorsOfAnySizeTypeAndMemoryAreUpdatedAlike() {
    int count = 10_000;
    float[] heap = new float[count];
    double[] doubles = new double[count];
    ByteBuffer direct = ByteBuffer.allocateDirect(4 * count).order(ByteOrder.nativeOrder());
    float[] slope = new float[count];
    double[] slopes = new double[count];
    for (int i = 0; i < count; i++) {
      slope[i] = i % 7 - 3;
      slopes[i] = slope[i];
    }
    AdamOptimizer adam = new AdamOptimizer(new AdamOptions());
    for (int step = 0; step < 3; step++) {
      adam.step(0, Tensor.of(heap), Tensor.of(slope));
      adam.step(1, Tensor.of(doubles), Tensor.of(slopes));
      adam.step(2, Tensor.wrap(DType.FLOAT32, direct), Tensor.of(slope));
    }
    float[] read = new float[count];
    direct.asFloatBuffer().get(read);
    assertThat(read).isEqualTo(heap);
    for (int i = 0; i < count; i++) {
      assertThat((double) heap[i]).isCloseTo(doubles[i], within(1e-8));
      assertThat(heap[i]).isEqualTo(heap[i % 7]);
    }
  }

  @Test
  void aRestoredStateIsACopyWithWhichStepsGoOn() {
    double[] whole = run(new AdamOptimizer(new AdamOptions()), 1, 2, 3);
    AdamOptimizer first = new AdamOptimizer(new AdamOptions());
    run(first, 1, 2);
    AdamOptimizer second = new AdamOptimizer(new AdamOptions());
    assertThat(first.state(0)).containsOnlyKeys("mean", "square", "step");
    assertThat(first.state(1)).isEmpty();
    second.restore(0, first.state(0));
    first.step(0, Tensor.of(1d), Tensor.of(100d));
    double[] value = {whole[1]};
    second.step(0, Tensor.of(value), Tensor.of(3d));
    assertThat(value).containsExactly(whole[2]);
    second.restore(0, Map.of());
    assertThat(second.state(0)).isEmpty();

    SgdOptimizer sgd = new SgdOptimizer(new SgdOptions(1).withMomentum(0.5));
    run(sgd, 1, 2);
    SgdOptimizer other = new SgdOptimizer(new SgdOptions(1).withMomentum(0.5));
    other.restore(0, sgd.state(0));
    double[] at = {-2.5};
    other.step(0, Tensor.of(at), Tensor.of(0d));
    assertThat(at).containsExactly(-3.75);
    other.restore(0, Map.of());
    assertThat(other.state(0)).isEmpty();
  }

  @Test
  void anotherLearningRateCountsFromTheNextStepOn() {
    SgdOptimizer sgd = new SgdOptimizer(new SgdOptions(1));
    sgd.setOptions(new SgdOptions(1).withLearningRate(0.25));
    assertThat(run(sgd, 2)).containsExactly(0.5);
    AdamOptimizer adam = new AdamOptimizer(new AdamOptions());
    adam.setOptions(new AdamOptions().withLearningRate(0));
    assertThat(run(adam, 2)).containsExactly(1);
  }

  @Test
  void whatCannotBeIsRefused() {
    assertThatThrownBy(() -> new SgdOptions(-1)).hasMessageContaining("learning rate");
    assertThatThrownBy(() -> new SgdOptions(Double.NaN)).hasMessageContaining("NaN");
    assertThatThrownBy(() -> new SgdOptions(1).withNesterov(true))
        .hasMessageContaining("needs a momentum and no dampening");
    assertThatThrownBy(() -> new AdamOptions().withBetas(1, 0)).hasMessageContaining("beta1");
    SgdOptimizer sgd = new SgdOptimizer(new SgdOptions(1));
    AdamOptimizer adam = new AdamOptimizer(new AdamOptions());
    assertThatThrownBy(() -> sgd.step(3, Tensor.of(1, 2), Tensor.of(1, 2)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("parameter 3 is int32[2]; this optimizer takes float32 and float64");
    assertThatThrownBy(() -> sgd.step(3, Tensor.of(1f, 2f), Tensor.of(1f)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("equal counts");
    assertThatThrownBy(() -> sgd.restore(3, Map.of("mean", Tensor.of(1f))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("parameter 3 has the parts [mean]");
    assertThatThrownBy(() -> adam.restore(3, Map.of("mean", Tensor.of(1f))))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () ->
                adam.restore(
                    3,
                    Map.of("mean", Tensor.of(1f), "square", Tensor.of(1f), "step", Tensor.of(1f))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must be one int64");
  }

  @Test
  void eachParameterIsUpdatedByItsOwnOptimizer() {
    SgdOptimizer slow = new SgdOptimizer(new SgdOptions(0.5).withMomentum(0.5));
    SgdOptimizer fast = new SgdOptimizer(new SgdOptions(2));
    LocalOptimizer both = LocalOptimizer.byParameter(i -> i == 0 ? slow : i == 1 ? fast : null);
    double[] weight = {1};
    double[] bias = {1};
    both.step(0, Tensor.of(weight), Tensor.of(1d));
    both.step(1, Tensor.of(bias), Tensor.of(1d));
    assertThat(weight).containsExactly(0.5);
    assertThat(bias).containsExactly(-1);
    assertThat(both.state(0)).isEqualTo(slow.state(0)).isNotEmpty();
    assertThat(both.state(1)).isEmpty();
    SgdOptimizer other = new SgdOptimizer(new SgdOptions(0.5).withMomentum(0.5));
    LocalOptimizer.byParameter(i -> other).restore(0, both.state(0));
    other.step(0, Tensor.of(weight), Tensor.of(0d));
    assertThat(weight).as("the momentum was restored").containsExactly(0.25);
    LocalOptimizer made =
        LocalOptimizer.byParameter(i -> new SgdOptimizer(new SgdOptions(0.5).withMomentum(0.5)));
    made.step(0, Tensor.of(weight), Tensor.of(1d));
    assertThat(made.state(0)).as("the optimizer that was made first").isNotEmpty();
    assertThatThrownBy(() -> both.step(2, Tensor.of(weight), Tensor.of(1d)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("parameter 2 has no optimizer");
  }
}
