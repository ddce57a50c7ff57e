package org.sparkcollectives.spark;

import java.util.Iterator;
import org.apache.spark.Partitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import scala.Tuple2;

/**
 * A shuffle that moves no row: a barrier stage that ends in one can be tried again as a whole,
 * which Spark does not do with one that ends in an action.
 */
final class RankShuffle {

  private RankShuffle() {}

  /** The same partitions with the same rows in the same order, behind a shuffle. */
  static <R> JavaRDD<R> behind(JavaRDD<R> ranks) {
    JavaRDD<Tuple2<Integer, R>> numbered =
        ranks.mapPartitionsWithIndex(RankShuffle::numbered, false);
    return JavaPairRDD.fromJavaRDD(numbered)
        .partitionBy(new ByRank(ranks.getNumPartitions()))
        .values();
  }

  private static <R> Iterator<Tuple2<Integer, R>> numbered(Integer rank, Iterator<R> rows) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public Tuple2<Integer, R> next() {
        return new Tuple2<>(rank, rows.next());
      }
    };
  }

  /** The partition is the rank. */
  private static final class ByRank extends Partitioner {

    private static final long serialVersionUID = 1;

    private final int ranks;

    ByRank(int ranks) {
      this.ranks = ranks;
    }

    @Override
    public int numPartitions() {
      return ranks;
    }

    @Override
    public int getPartition(Object rank) {
      return (Integer) rank;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof ByRank same && same.ranks == ranks;
    }

    @Override
    public int hashCode() {
      return ranks;
    }
  }
}
