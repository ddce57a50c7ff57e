package org.sparkcollectives.spark.internal.driver;

import java.util.Iterator;
import org.apache.spark.Partitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import scala.Tuple2;

/**
 * A shuffle that moves no row. Spark can retry a barrier stage as a whole if it ends in a shuffle,
 * but not if it ends in an action.
 */
public final class RankShuffle {

  private RankShuffle() {}

  /** Returns the same partitions with the same rows in the same order, behind a shuffle. */
  public static <R> JavaRDD<R> behind(JavaRDD<R> ranks) {
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

  /** The partitioner that returns the rank. */
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
