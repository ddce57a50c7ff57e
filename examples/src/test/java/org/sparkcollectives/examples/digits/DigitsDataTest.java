package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class DigitsDataTest {

  private static JavaSparkContext spark;

  @BeforeAll
  static void startSpark() {
    spark =
        new JavaSparkContext(
            new SparkConf()
                .setAppName("digits-data")
                .setMaster("local[2]")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.driver.bindAddress", "127.0.0.1")
                .set("spark.ui.enabled", "false"));
  }

  @AfterAll
  static void stopSpark() {
    spark.stop();
  }

  private static DigitsData data() {
    return DigitsData.read(spark, "data/digits.csv");
  }

  private static List<List<Integer>> labelsOfRanks(int ranks) {
    return data().train(ranks).map(Digit::label).glom().collect();
  }

  @Test
  void everyFifthImageIsATestImage() {
    // The digits come in order at first: 0 1 2 3 4 5 6 7 8 9 0 ...; so the test set begins with 4,
    // 9.
    List<Digit> test = data().test();
    assertThat(test).hasSize(359);
    assertThat(test.subList(0, 4)).extracting(Digit::label).containsExactly(4, 9, 4, 9);
  }

  @Test
  void theOtherImagesAreDealtOutEvenlyToAnyNumberOfRanks() {
    for (int ranks : new int[] {1, 4, 5, 10}) {
      List<List<Integer>> labels = labelsOfRanks(ranks);
      assertThat(labels).hasSize(ranks);
      assertThat(labels)
          .allSatisfy(own -> assertThat(own).hasSizeBetween(1438 / ranks, 1438 / ranks + 1));
      assertThat(labels.stream().mapToInt(List::size).sum()).isEqualTo(1438);
    }
    assertThat(labelsOfRanks(1).get(0).subList(0, 9)).containsExactly(0, 1, 2, 3, 5, 6, 7, 8, 0);
  }

  @Test
  void theOrderIsTheSameEachTime() {
    assertThat(labelsOfRanks(3)).isEqualTo(labelsOfRanks(3));
  }
}
