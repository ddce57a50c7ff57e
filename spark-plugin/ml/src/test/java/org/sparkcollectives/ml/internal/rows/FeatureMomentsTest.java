package org.sparkcollectives.ml.internal.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.mllib.stat.MultivariateOnlineSummarizer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the moments beside those of Spark. */
class FeatureMomentsTest {

  private static final int FEATURES = 7;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void momentsHaveTheBitsOfSparks(long seed) {
    Random random = new Random(seed);
    FeatureMoments own = new FeatureMoments();
    MultivariateOnlineSummarizer sparks = new MultivariateOnlineSummarizer();
    for (int part = 0; part < 4; part++) {
      FeatureMoments ownPart = new FeatureMoments();
      MultivariateOnlineSummarizer sparksPart = new MultivariateOnlineSummarizer();
      for (int rows = random.nextInt(30); rows > 0; rows--) {
        Vector row = row(random);
        double weight = random.nextInt(4) == 0 ? random.nextInt(2) : random.nextDouble();
        ownPart.add(row, weight);
        sparksPart.add(org.apache.spark.mllib.linalg.Vectors.fromML(row), weight);
      }
      own.merge(ownPart);
      sparks.merge(sparksPart);
    }
    assertThat(own.weightSum()).isEqualTo(sparks.weightSum());
    assertThat(own.mean()).isEqualTo(sparks.mean().toArray());
    assertThat(own.variance()).isEqualTo(sparks.variance().toArray());
  }

  @Test
  void oneRowHasNoVariance() {
    FeatureMoments moments = new FeatureMoments();
    moments.add(Vectors.dense(1, -2), 3);
    assertThat(moments.mean()).containsExactly(1, -2);
    assertThat(moments.variance()).containsExactly(0, 0);
  }

  @Test
  void rowsOfDifferentLengthsAreRefused() {
    FeatureMoments two = new FeatureMoments();
    two.add(Vectors.dense(1, 2), 1);
    FeatureMoments three = new FeatureMoments();
    three.add(Vectors.dense(1, 2, 3), 1);
    assertThatThrownBy(() -> two.add(Vectors.dense(1, 2, 3), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("A row has 3 features, and others have 2. All rows must have as many");
    assertThatThrownBy(() -> two.merge(three))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Rows of one rank have 2 features, and those of another have 3");
  }

  /** Returns a row of which about a third is 0, dense or sparse. */
  private static Vector row(Random random) {
    double[] values = new double[FEATURES];
    for (int i = 0; i < FEATURES; i++) {
      values[i] = random.nextInt(3) == 0 ? 0 : random.nextGaussian() * Math.pow(10, i) + i;
    }
    Vector dense = Vectors.dense(values);
    return random.nextBoolean() ? dense : dense.toSparse();
  }
}
