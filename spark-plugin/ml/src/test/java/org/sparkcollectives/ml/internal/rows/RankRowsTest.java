package org.sparkcollectives.ml.internal.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.linalg.Vectors;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.store.HashStore;

/** Tests ranks that are threads. */
class RankRowsTest {

  private static final long MUCH = 1 << 20;

  @Test
  void allRanksKnowTheMomentsOfAllRows() throws Exception {
    List<List<Instance>> rows =
        List.of(
            List.of(row(0, 1, 1, 10), row(2, 3, 3, 10)), List.of(), List.of(row(1, 0, 100, 100)));
    for (RankRows rank : read(rows, List.of(MUCH, MUCH, MUCH))) {
      assertThat(rank.shortage()).isEmpty();
      assertThat(rank.statistics().mean()).containsExactly(2.5, 10);
      // Weighted, and without bias: (1 x 1.5² + 3 x 0.5²) / (4 - (1² + 3²) / 4).
      assertThat(rank.statistics().std()).containsExactly(Math.sqrt(2), 0);
      assertThat(rank.statistics().inverseStd()).containsExactly(1 / Math.sqrt(2), 0);
      assertThat(rank.statistics().histogram()).containsExactly(1, 0, 3);
    }
  }

  @Test
  void allRanksLearnThatTheRowsOfOneDoNotFit() throws Exception {
    List<List<Instance>> rows = List.of(List.of(row(0, 1, 1, 1)), List.of(row(0, 1, 1, 1)));
    for (RankRows rank : read(rows, List.of(MUCH, 8L))) {
      assertThat(rank.shortage())
          .hasValueSatisfying(why -> assertThat(why).contains("rank 1 of 2"));
    }
  }

  @Test
  void noRowsHaveNoStatistics() throws Exception {
    for (RankRows rank : read(List.of(List.of(), List.of()), List.of(MUCH, MUCH))) {
      assertThat(rank.statistics().isEmpty()).isTrue();
    }
  }

  @Test
  void rowsAreScaledInPlaceWhateverTheirForm() {
    List<Instance> dense = List.of(row(0, 1, 1, 2), row(0, 1, 3, 4));
    List<Instance> sparse =
        List.of(
            new Instance(0, 1, Vectors.sparse(9, new int[] {8}, new double[] {5})),
            new Instance(0, 1, Vectors.sparse(9, new int[] {0}, new double[] {7})));

    HeldRows first = HeldRows.read(dense.iterator(), MUCH, MUCH, new RowSummary(Labels.CLASSES));
    HeldRows second = HeldRows.read(sparse.iterator(), MUCH, MUCH, new RowSummary(Labels.CLASSES));
    first.scale(new double[] {10, 0.5});
    second.scale(new double[] {2, 1, 1, 1, 1, 1, 1, 1, 3});

    assertThat(first.blocks().get(0).matrix().toArray()).containsExactly(10, 30, 1, 2);
    assertThat(second.blocks().get(0).matrix().apply(0, 8)).isEqualTo(15);
    assertThat(second.blocks().get(0).matrix().apply(1, 0)).isEqualTo(14);
  }

  @Test
  void theHeapIsSharedByTheTasksThatRunAtTheSameTime() {
    assertThat(HeapShare.of(1300L << 20, 0.6, 0, 2)).isEqualTo(300L << 20);
    assertThat(HeapShare.of(200L << 20, 0.6, 0, 1)).isZero();
  }

  @Test
  void rowsTakeNoHeapThatSparksCacheHasButAtLeastHalf() {
    assertThat(HeapShare.of(1300L << 20, 0.6, 100L << 20, 2)).isEqualTo(250L << 20);
    assertThat(HeapShare.of(1300L << 20, 0.6, 590L << 20, 2)).isEqualTo(150L << 20);
    assertThat(HeapShare.of(1300L << 20, 0.6, Long.MAX_VALUE, 1)).isEqualTo(300L << 20);
  }

  private static Instance row(double label, double weight, double... features) {
    return new Instance(label, weight, Vectors.dense(features));
  }

  private static List<RankRows> read(List<List<Instance>> rows, List<Long> capacities)
      throws Exception {
    int ranks = rows.size();
    ExecutorService threads = Executors.newFixedThreadPool(ranks);
    try (HashStore store = new HashStore()) {
      List<Callable<RankRows>> calls = new ArrayList<>();
      for (int rank = 0; rank < ranks; rank++) {
        int own = rank;
        calls.add(
            () -> {
              try (ProcessGroup world =
                  ProcessGroups.create(store, own, ranks, GroupOptions.defaults())) {
                return RankRows.read(
                    world, rows.get(own).iterator(), Labels.CLASSES, MUCH, capacities.get(own));
              }
            });
      }
      List<RankRows> read = new ArrayList<>();
      for (Future<RankRows> rank : threads.invokeAll(calls)) {
        read.add(rank.get());
      }
      return Collections.unmodifiableList(read);
    } finally {
      threads.shutdownNow();
    }
  }
}
