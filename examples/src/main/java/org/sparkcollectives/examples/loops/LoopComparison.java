package org.sparkcollectives.examples.loops;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures loops of {@code treeAggregate} and broadcast beside the same as one barrier stage. */
@Command(
    name = "loops",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures loops of treeAggregate and broadcast beside the same as one stage.",
    showDefaultValues = true)
public final class LoopComparison implements Callable<Integer> {

  @Option(
      names = "--master",
      description =
          "Spark's master; by default what spark-submit says, or local-cluster[2,2,1024].")
  private String master;

  @Option(names = "--ranks", description = "How many partitions, each of which is a rank.")
  private int ranks = 2;

  @Option(names = "--rows", description = "How many rows, or pages.")
  private int rows = 20_000;

  @Option(names = "--features", description = "How many features a row has.")
  private int features = 100;

  @Option(names = "--iterations", description = "How many iterations a loop has.")
  private int iterations = 50;

  @Option(names = "--rounds", description = "How often each loop runs; the best time counts.")
  private int rounds = 2;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** Creates the command; picocli calls this. */
  public LoopComparison() {}

  /** Runs the program. Fails by throwing, so that spark-submit ends with an error. */
  public static void main(String[] args) {
    if (new CommandLine(new LoopComparison()).execute(args) != 0) {
      throw new IllegalStateException("The comparison did not end well; the reason is above");
    }
  }

  @Override
  public Integer call() {
    SparkConf conf = new SparkConf().setAppName("loops");
    if (master != null) {
      conf.setMaster(master);
    }
    try (JavaSparkContext spark =
        new JavaSparkContext(conf.setIfMissing("spark.master", "local-cluster[2,2,1024]"))) {
      out.println(
          "| loop | treeAggregate and broadcast, s | one stage, s | ratio | an iteration |");
      out.println("|---|---:|---:|---:|---:|");
      for (Loop loop : loops(spark)) {
        out.println(measured(spark, loop));
      }
    }
    return 0;
  }

  private List<Loop> loops(JavaSparkContext spark) {
    int length = features;
    int pages = rows;
    JavaRDD<Integer> numbers =
        spark.parallelize(IntStream.range(0, rows).boxed().toList(), ranks).cache();
    JavaRDD<double[]> points =
        numbers.map(number -> GradientDescent.randomRow(number, length)).cache();
    JavaRDD<int[]> links = numbers.map(page -> PowerIteration.randomLinks(page, pages)).cache();
    int clusters = 20;
    double[] centers = new double[clusters * features];
    for (int i = 0; i < clusters; i++) {
      System.arraycopy(
          GradientDescent.randomRow(-1 - i, features), 1, centers, i * features, features);
    }
    points.count();
    links.count();
    return List.of(
        new GradientDescent(points, rows, features),
        new Lloyd(points, rows, clusters, centers),
        new PowerIteration(links, pages));
  }

  /** Returns a row of the table. The ways take turns, so that a busy moment hits both. */
  private String measured(JavaSparkContext spark, Loop loop) {
    double driver = Double.POSITIVE_INFINITY;
    double stage = Double.POSITIVE_INFINITY;
    for (int round = 0; round < rounds; round++) {
      long start = System.nanoTime();
      double[] expected = loop.onDriver(spark, iterations);
      long middle = System.nanoTime();
      double[] result = loop.inStage(iterations);
      long end = System.nanoTime();
      requireClose(loop, expected, result);
      driver = Math.min(driver, (middle - start) / 1e9);
      stage = Math.min(stage, (end - middle) / 1e9);
    }
    return String.format(
        Locale.ROOT,
        "| %s | %.2f | %.2f | %.1f | %.1f ms to %.1f ms |",
        loop.name(),
        driver,
        stage,
        driver / stage,
        driver * 1e3 / iterations,
        stage * 1e3 / iterations);
  }

  private static void requireClose(Loop loop, double[] expected, double[] result) {
    for (int i = 0; i < expected.length; i++) {
      if (!(Math.abs(result[i] - expected[i]) <= 1e-9 * Math.max(1, Math.abs(expected[i])))) {
        throw new IllegalStateException(
            loop.name() + ": " + result[i] + " differs from " + expected[i] + " at " + i);
      }
    }
  }
}
