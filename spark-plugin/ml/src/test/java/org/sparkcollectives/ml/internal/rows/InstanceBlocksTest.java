package org.sparkcollectives.ml.internal.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.feature.InstanceBlock;
import org.apache.spark.ml.feature.InstanceBlock$;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the blocks beside those of Spark. */
class InstanceBlocksTest {

  @ParameterizedTest(name = "{0} of 10 values are 0, blocks of {1} bytes, weights {2}")
  @CsvSource({
    "0, 1, false",
    "0, 1000, false",
    "0, 1000, true",
    "3, 2000, false",
    "5, 700, true",
    "9, 1, false",
    "9, 500, true",
    "10, 300, false",
    "4, 1000000, true",
  })
  @SuppressWarnings("deprecation") // The converters' successors do not exist in Scala 2.12.
  void blocksAreThoseOfSpark(int zeros, long bytes, boolean weighted) {
    List<Instance> rows = rows(zeros, weighted);
    List<InstanceBlock> sparks = new ArrayList<>();
    InstanceBlock$.MODULE$
        .blokifyWithMaxMemUsage(
            scala.collection.JavaConverters.asScalaIterator(rows.iterator()), bytes)
        .foreach(sparks::add);
    InstanceBlocks own = new InstanceBlocks(rows.iterator(), bytes);
    for (InstanceBlock expected : sparks) {
      InstanceBlock block = own.next();
      assertThat(block.labels()).isEqualTo(expected.labels());
      assertThat(block.weights()).isEqualTo(expected.weights());
      assertThat(block.matrix()).isEqualTo(expected.matrix());
      assertThat(block.matrix()).hasSameClassAs(expected.matrix());
      assertThat(block.matrix().isTransposed()).isEqualTo(expected.matrix().isTransposed());
    }
    assertThat(own.hasNext()).isFalse();
  }

  @Test
  void rowsOfDifferentLengthsAreRefused() {
    List<Instance> rows =
        List.of(
            new Instance(0, 1, Vectors.dense(1, 2)), new Instance(0, 1, Vectors.dense(1, 2, 3)));
    assertThatThrownBy(() -> new InstanceBlocks(rows.iterator(), 1000).next())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("A row has 3 features, and others have 2. All rows must have as many");
  }

  private static List<Instance> rows(int zeros, boolean weighted) {
    Random random = new Random(5);
    List<Instance> rows = new ArrayList<>();
    for (int row = 0; row < 57; row++) {
      double[] values = new double[11];
      for (int i = 0; i < values.length; i++) {
        values[i] = random.nextInt(10) < zeros ? 0 : random.nextGaussian();
      }
      Vector dense = Vectors.dense(values);
      rows.add(
          new Instance(
              row % 2,
              weighted && row > 20 ? random.nextDouble() : 1,
              random.nextBoolean() ? dense : dense.toSparse()));
    }
    return rows;
  }
}
