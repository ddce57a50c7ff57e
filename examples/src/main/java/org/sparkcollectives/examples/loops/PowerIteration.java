package org.sparkcollectives.examples.loops;

import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.sparkcollectives.spark.IterativeStage;

/** PageRank by power iteration. A row is a page, then the pages that it links to. */
final class PowerIteration implements Loop {

  private final JavaRDD<int[]> links;
  private final int pages;

  PowerIteration(JavaRDD<int[]> links, int pages) {
    this.links = links;
    this.pages = pages;
  }

  /** Returns a page with some links. */
  static int[] randomLinks(int page, int pages) {
    int[] row = new Random(page).ints(9, 0, pages).toArray();
    row[0] = page;
    return row;
  }

  @Override
  public String name() {
    return String.format(Locale.ROOT, "PageRank, %,d pages, 8 links each", pages);
  }

  @Override
  public double[] onDriver(JavaSparkContext spark, int iterations) {
    double[] scores = uniform();
    for (int iteration = 1; iteration <= iterations; iteration++) {
      Broadcast<double[]> current = spark.broadcast(scores);
      double[] received =
          links.treeAggregate(
              new double[pages], (sum, row) -> give(sum, current.value(), row), Loop::add);
      scores = damped(received);
      current.destroy();
    }
    return scores;
  }

  @Override
  public double[] inStage(int iterations) {
    return IterativeStage.of(links, uniform())
        .run(
            iterations,
            (scores, own, iteration) -> {
              double[] received = new double[scores.length];
              own.forEach(row -> give(received, scores, row));
              return received;
            },
            (scores, received, iteration) -> damped(received))
        .state();
  }

  private double[] uniform() {
    double[] scores = new double[pages];
    Arrays.fill(scores, 1.0 / pages);
    return scores;
  }

  private static double[] give(double[] received, double[] scores, int[] row) {
    for (int i = 1; i < row.length; i++) {
      received[row[i]] += scores[row[0]] / (row.length - 1);
    }
    return received;
  }

  private static double[] damped(double[] received) {
    return Arrays.stream(received).map(each -> 0.15 / received.length + 0.85 * each).toArray();
  }
}
