package org.sparkcollectives.examples.digits;

import java.io.Serializable;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** The images, read by Spark and split in the same way each time. */
final class DigitsData {

  private static final int EVERY_FIFTH = 5;

  private final JavaPairRDD<Long, Digit> numbered;

  private DigitsData(JavaPairRDD<Long, Digit> numbered) {
    this.numbered = numbered;
  }

  static DigitsData read(JavaSparkContext spark, String path) {
    JavaPairRDD<Long, Digit> numbered =
        spark
            .textFile(path)
            .filter(line -> !line.isBlank())
            .map(Digit::parse)
            .zipWithIndex()
            .mapToPair(row -> new Tuple2<>(row._2(), row._1()));
    return new DigitsData(numbered);
  }

  private static boolean isTest(long number) {
    return number % EVERY_FIFTH == EVERY_FIFTH - 1;
  }

  /** Every fifth image, in order. */
  List<Digit> test() {
    return numbered.filter(row -> isTest(row._1())).sortByKey().values().collect();
  }

  /**
   * The other images, dealt out in turn, one partition for each rank, in the same order each time.
   */
  JavaRDD<Digit> train(int ranks) {
    // Numbered again without the test images: dealt by their old numbers, a fifth rank would get
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
