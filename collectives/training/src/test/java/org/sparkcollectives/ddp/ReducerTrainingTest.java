package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests that several ranks learn from parts of the rows what one learns from all of them. */
@ExtendWith(LeakCheck.class)
class ReducerTrainingTest {

  private static final int INPUTS = 3;
  private static final int HIDDEN = 5;
  private static final int ROWS = 12;
  private static final int STEPS = 60;

  /** A net of two layers whose backward pass is written by hand. */
  private static final class Net {
    private final float[] w1;
    private final float[] w2;
    private final float[] g1 = new float[HIDDEN * INPUTS];
    private final float[] g2 = new float[HIDDEN];
    private final float[][] activations = new float[ROWS][HIDDEN];
    private final float[] errors = new float[ROWS];

    Net(long seed) {
      w1 = random(seed, HIDDEN * INPUTS);
      w2 = random(seed + 1, HIDDEN);
    }

    private static float[] random(long seed, int count) {
      Random random = new Random(seed);
      float[] values = new float[count];
      for (int i = 0; i < count; i++) {
        values[i] = random.nextFloat() - 0.5f;
      }
      return values;
    }

    private static float[] row(int index) {
      return new float[] {(float) Math.sin(index), (float) Math.cos(index), 1};
    }

    private static float target(int index) {
      return (float) Math.sin(index) * 0.7f;
    }

    /** Returns the loss of the rows {@code from} to {@code to}, their mean. */
    float forward(int from, int to) {
      float loss = 0;
      for (int i = from; i < to; i++) {
        float output = 0;
        for (int j = 0; j < HIDDEN; j++) {
          float sum = 0;
          for (int k = 0; k < INPUTS; k++) {
            sum += w1[j * INPUTS + k] * row(i)[k];
          }
          activations[i][j] = (float) Math.tanh(sum);
          output += w2[j] * activations[i][j];
        }
        errors[i] = output - target(i);
        loss += errors[i] * errors[i] / 2 / (to - from);
      }
      return loss;
    }

    void backwardOfOutput(int from, int to) {
      for (int i = from; i < to; i++) {
        for (int j = 0; j < HIDDEN; j++) {
          g2[j] += errors[i] * activations[i][j] / (to - from);
        }
      }
    }

    void backwardOfHidden(int from, int to) {
      for (int i = from; i < to; i++) {
        for (int j = 0; j < HIDDEN; j++) {
          float slope = 1 - activations[i][j] * activations[i][j];
          for (int k = 0; k < INPUTS; k++) {
            g1[j * INPUTS + k] += errors[i] * w2[j] * slope * row(i)[k] / (to - from);
          }
        }
      }
    }

    void descend() {
      descend(w1, g1);
      descend(w2, g2);
    }

    private static void descend(float[] weights, float[] gradient) {
      for (int i = 0; i < weights.length; i++) {
        weights[i] -= 0.5f * gradient[i];
        gradient[i] = 0;
      }
    }

    List<Parameter> parameters() {
      return List.of(
          new Parameter("w1", Tensor.of(w1), Tensor.of(g1), false),
          new Parameter("w2", Tensor.of(w2), Tensor.of(g2), false));
    }
  }

  /** Returns the net that one process trains on all rows. */
  private static Net alone() {
    Net net = new Net(7);
    for (int step = 0; step < STEPS; step++) {
      net.forward(0, ROWS);
      net.backwardOfOutput(0, ROWS);
      net.backwardOfHidden(0, ROWS);
      net.descend();
    }
    return net;
  }

  private static Net train(ProcessGroup group, int[] bounds) {
    Net net = new Net(7 + 100L * group.rank());
    ModelState.broadcast(group, net.parameters().stream().map(Parameter::value).toList(), 0);
    int from = bounds[group.rank()];
    int to = bounds[group.rank() + 1];
    ReducerOptions options = ReducerOptions.defaults().withBucketBytes(16).withWeightedMean(true);
    try (GradientReducer reducer = GradientReducer.create(group, net.parameters(), options)) {
      for (int step = 0; step < STEPS; step++) {
        reducer.setWeight(to - from);
        reducer.beginForward();
        net.forward(from, to);
        reducer.beginBackward();
        net.backwardOfOutput(from, to);
        reducer.markReady(1);
        net.backwardOfHidden(from, to);
        reducer.markReady(0);
        reducer.finish();
        net.descend();
      }
    }
    return net;
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "SHM", "TCP"})
  void ranksWithPartsOfTheRowsLearnWhatOneLearnsFromAll(Paths paths) {
    Net expected = alone();
    assertThat(expected.forward(0, ROWS)).isLessThan(0.3f * new Net(7).forward(0, ROWS));
    for (int[] bounds : new int[][] {{0, 4, 8, 12}, {0, 1, 1, 12}, {0, 7, 9, 12}}) {
      List<Net> nets = GroupRuns.run(3, paths, group -> train(group, bounds));
      for (Net each : nets) {
        assertThat(each.w1).isEqualTo(nets.get(0).w1);
        assertThat(each.w2).isEqualTo(nets.get(0).w2);
      }
      for (int i = 0; i < HIDDEN * INPUTS; i++) {
        assertThat(nets.get(0).w1[i]).isCloseTo(expected.w1[i], within(1e-5f));
      }
      for (int i = 0; i < HIDDEN; i++) {
        assertThat(nets.get(0).w2[i]).isCloseTo(expected.w2[i], within(1e-5f));
      }
    }
  }

  @Test
  void allRanksBeginWithTheValuesOfOne() {
    GroupRuns.run(
        3,
        Paths.TCP,
        group -> {
          Tensor floats = Tensor.of((float) group.rank(), 2);
          Tensor counts = Tensor.of((long) group.rank());
          Tensor empty = Tensor.allocate(DType.FLOAT64, 0);
          ModelState.broadcast(group, List.of(floats, counts, empty), 2);
          assertThat((float[]) floats.array()).containsExactly(2, 2);
          assertThat((long[]) counts.array()).containsExactly(2);
          ModelState.broadcast(group, List.of(), 0);
          return null;
        });
  }
}
