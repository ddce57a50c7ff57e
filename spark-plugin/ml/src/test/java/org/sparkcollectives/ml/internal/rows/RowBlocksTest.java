package org.sparkcollectives.ml.internal.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RowBlocksTest {

  private static final HeapBudget ENOUGH = HeapBudget.upTo(Long.MAX_VALUE, 0);

  @ParameterizedTest
  @CsvSource({"1, 1, 1", "63, 4, 0.2", "128, 7, 1", "131, 10, 0.1", "200, 9, 0.9"})
  void blocksComputeWhatLoopsOverTheRowsDo(int count, int features, double density) {
    Random random = new Random(count);
    List<Instance> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      double[] row =
          random
              .doubles(features, -1, 1)
              .map(value -> random.nextDouble() < density ? value : 0)
              .toArray();
      rows.add(new Instance(i, random.nextDouble(), Vectors.dense(row)));
    }
    double[] vectors = random.doubles(3L * features, -1, 1).toArray();

    int first = 0;
    for (RowBlock block : RowBlocks.of(rows.iterator(), features, ENOUGH)) {
      check(block, rows.subList(first, first + block.size()), vectors);
      first += block.size();
    }

    assertThat(first).isEqualTo(count);
  }

  private static void check(RowBlock block, List<Instance> rows, double[] vectors) {
    int features = vectors.length / 3;
    int products = features * (features + 1) / 2;
    double[] dots = new double[block.size()];
    block.dots(vectors, features, dots);
    double[] firstDots = new double[block.size()];
    double[] secondDots = new double[block.size()];
    block.dots(vectors, 2 * features, features, firstDots, secondDots);
    assertThat(secondDots).containsExactly(dots);
    block.dots(vectors, 2 * features, secondDots);
    assertThat(firstDots).containsExactly(secondDots);
    int[] clusters = new int[block.size()];
    double[] weights = new double[block.size()];
    double[] expectedSums = new double[vectors.length];
    double[] expectedMoments = new double[1 + features + products];
    for (int i = 0; i < block.size(); i++) {
      double[] row = rows.get(i).features().toArray();
      clusters[i] = i % 3;
      weights[i] = i % 5;
      double dot = 0;
      int product = 1 + features;
      for (int j = 0; j < features; j++) {
        dot += row[j] * vectors[features + j];
        expectedSums[clusters[i] * features + j] += row[j] * rows.get(i).weight();
        expectedMoments[1 + j] += weights[i] * row[j];
        for (int l = 0; l <= j; l++) {
          expectedMoments[product++] += weights[i] * row[j] * row[l];
        }
      }
      assertThat(dots[i]).isCloseTo(dot, within(1e-12));
      assertThat(block.weight(i)).isEqualTo(rows.get(i).weight());
      assertThat(block.label(i)).isEqualTo(rows.get(i).label());
    }
    double[] sums = new double[vectors.length];
    block.addTo(clusters, sums);
    double[] moments = new double[1 + features + products];
    block.addMoments(weights, moments, 1, 1 + features);

    assertThat(sums).containsExactly(expectedSums);
    assertThat(moments).containsExactly(expectedMoments, within(1e-12));
  }

  @Test
  void rowsThatAreMostlyZerosStaySparse() {
    Vector sparse = Vectors.sparse(100, new int[] {3}, new double[] {1});
    Vector dense = Vectors.dense(new double[100]).toSparse().toDense();
    List<Instance> rows = List.of(new Instance(0, 1, sparse), new Instance(0, 1, dense));

    assertThat(RowBlocks.of(rows.iterator(), 100, ENOUGH))
        .singleElement()
        .isInstanceOf(SparseRowBlock.class);
  }

  @Test
  void rowsOfAnotherLengthAreRefused() {
    List<Instance> rows = List.of(new Instance(0, 1, Vectors.dense(1, 2, 3)));

    assertThatIllegalArgumentException()
        .isThrownBy(() -> RowBlocks.of(rows.iterator(), 2, ENOUGH))
        .withMessageContaining("3 features, and others have 2");
  }

  @Test
  void rowsThatAreTooManyEndTheFitAndAreRecognised() {
    List<Instance> rows = List.of(new Instance(0, 1, Vectors.zeros(1 << 18)));
    HeapBudget held = HeapBudget.upTo(1 << 20, 0);

    assertThatThrownBy(() -> RowBlocks.of(rows.iterator(), 1 << 18, held))
        .isInstanceOf(HeapShortage.class)
        .satisfies(
            failure ->
                assertThat(HeapShortage.in(new RuntimeException("a task failed: " + failure)))
                    .hasValueSatisfying(
                        text ->
                            assertThat(text).contains("1 MiB", "Give the executors more memory")));
    assertThat(HeapShortage.in(new RuntimeException())).isEmpty();
  }
}
