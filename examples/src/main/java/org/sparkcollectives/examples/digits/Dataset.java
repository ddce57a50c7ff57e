package org.sparkcollectives.examples.digits;

import java.io.Serializable;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** The samples of a file, read by Spark and split in the same way each time. */
final class Dataset {

  private static final int EVERY_FIFTH = 5;

  /** The number of lines that decide the format of a file. */
  private static final int FIRST_LINES = 100;

  private final DatasetShape shape;
  private final JavaPairRDD<Long, Sample> numbered;

  private Dataset(DatasetShape shape, JavaPairRDD<Long, Sample> numbered) {
    this.shape = shape;
    this.numbered = numbered;
  }

  /**
   * Reads a file, whose contents decide how many features and classes there are. Blocks for a few
   * jobs.
   *
   * @throws IllegalArgumentException if there is nothing to train on, with the reason
   */
  static Dataset read(JavaSparkContext spark, DatasetOptions options) {
    JavaRDD<String> text = spark.textFile(options.path());
    LineFormat format =
        LineFormat.of(options.format(), text.take(FIRST_LINES), options.labelColumn());
    JavaRDD<LabeledValues> lines = text.filter(format::isSample).map(format::parse);
    DatasetShape shape = DatasetShape.of(lines);
    JavaPairRDD<Long, Sample> numbered = number(lines.map(shape::sample));
    FeatureScaling scaling =
        FeatureScaling.of(
            options.scaling(),
            numbered.filter(row -> !isTest(row._1())).values(),
            shape.features());
    return new Dataset(shape, numbered.mapValues(scaling::apply));
  }

  private static JavaPairRDD<Long, Sample> number(JavaRDD<Sample> samples) {
    return samples.zipWithIndex().mapToPair(row -> new Tuple2<>(row._2(), row._1()));
  }

  private static boolean isTest(long number) {
    return number % EVERY_FIFTH == EVERY_FIFTH - 1;
  }

  DatasetShape shape() {
    return shape;
  }

  /** Returns every fifth sample, in order. */
  List<Sample> test() {
    return numbered.filter(row -> isTest(row._1())).sortByKey().values().collect();
  }

  /**
   * Returns the other samples, dealt out in turn, one partition for each rank, in the same order
   * each time.
   */
  JavaRDD<Sample> train(int ranks) {
    // Numbered again without the test samples: dealt by their old numbers, a fifth rank would get
    // none.
    return numbered
        .filter(row -> !isTest(row._1()))
        .mapToPair(row -> new Tuple2<>(row._1() - row._1() / EVERY_FIFTH, row._2()))
        .repartitionAndSortWithinPartitions(new HashPartitioner(ranks), new ByNumber())
        .values();
  }

  private static final class ByNumber implements Comparator<Long>, Serializable {
    private static final long serialVersionUID = 1;

    @Override
    public int compare(Long a, Long b) {
      return a.compareTo(b);
    }
  }
}
