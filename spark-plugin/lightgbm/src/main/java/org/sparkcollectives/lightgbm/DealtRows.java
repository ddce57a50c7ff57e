package org.sparkcollectives.lightgbm;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;

/**
 * Deals rows to ranks like cards, one kind after the other, so that no rank is left without rows to
 * train on, or with those of one class.
 *
 * <p>The kinds are the validation rows, and the rows of each label.
 */
final class DealtRows {

  private static final Logger LOG = LoggerFactory.getLogger(DealtRows.class);

  /** The kind of the validation rows; that of the others is their label. */
  public static final double VALIDATION = Double.NaN;

  private DealtRows() {}

  /**
   * Returns {@code rows} with one partition for each rank: at most as many as now, and fewer where
   * there are fewer rows to train on, or fewer of the second most frequent class. Counts the rows,
   * in a job.
   *
   * @param kind returns the kind of a row, in the tasks
   * @param classes whether labels are classes
   * @throws IllegalArgumentException if there are no rows to train on, or those of one class only
   */
  public static <T> JavaRDD<T> of(JavaRDD<T> rows, Function<T, Double> kind, boolean classes) {
    List<Map<Double, Long>> counts =
        rows.mapPartitions(own -> List.of(counted(own, kind)).iterator()).collect();
    TreeMap<Double, Long> totals = new TreeMap<>();
    counts.forEach(each -> each.forEach((key, count) -> totals.merge(key, count, Long::sum)));
    int ranks = (int) Math.min(rows.getNumPartitions(), mostRanks(totals, classes));
    LOG.info(
        "The rows are dealt from {} partitions to {} ranks, because a partition has no rows to"
            + " train on, or rows of one class only",
        rows.getNumPartitions(),
        ranks);
    List<Map<Double, Long>> places = firstPlaces(counts, totals);
    return rows.mapPartitionsWithIndex(
            (partition, own) -> new Deal<>(own, kind, places.get(partition), ranks), false)
        .mapToPair(each -> each)
        .partitionBy(new HashPartitioner(ranks))
        .values();
  }

  private static <T> Map<Double, Long> counted(Iterator<T> rows, Function<T, Double> kind)
      throws Exception {
    HashMap<Double, Long> counts = new HashMap<>();
    while (rows.hasNext()) {
      counts.merge(kind.call(rows.next()), 1L, Long::sum);
    }
    return counts;
  }

  /** Returns how many ranks can have rows to train on, and of two classes if there are classes. */
  static long mostRanks(Map<Double, Long> totals, boolean classes) {
    Map<Double, Long> trained = new TreeMap<>(totals);
    Long validation = trained.remove(VALIDATION);
    List<Long> counts = new ArrayList<>(trained.values());
    counts.sort(Collections.reverseOrder());
    if (counts.isEmpty()) {
      throw new IllegalArgumentException(
          "There are no rows to train on, and "
              + (validation == null ? "no" : validation)
              + " validation rows");
    }
    if (classes && counts.size() == 1) {
      throw new IllegalArgumentException(
          "All "
              + counts.get(0)
              + " rows have the label "
              + trained.keySet().iterator().next()
              + ", and a classifier needs rows of two classes");
    }
    return classes ? counts.get(1) : counts.stream().mapToLong(Long::longValue).sum();
  }

  /** Returns the places in the whole deck at which each partition's rows of each kind begin. */
  private static List<Map<Double, Long>> firstPlaces(
      List<Map<Double, Long>> counts, Map<Double, Long> totals) {
    HashMap<Double, Long> next = new HashMap<>();
    long place = 0;
    for (Map.Entry<Double, Long> kind : totals.entrySet()) {
      next.put(kind.getKey(), place);
      place += kind.getValue();
    }
    List<Map<Double, Long>> places = new ArrayList<>();
    for (Map<Double, Long> partition : counts) {
      places.add(new HashMap<>(next));
      partition.forEach((kind, count) -> next.merge(kind, count, Long::sum));
    }
    return places;
  }

  /** The rows of a partition, each with its rank. */
  private record Deal<T>(
      Iterator<T> rows, Function<T, Double> kind, Map<Double, Long> places, int ranks)
      implements Iterator<Tuple2<Integer, T>> {

    @Override
    public boolean hasNext() {
      return rows.hasNext();
    }

    @Override
    public Tuple2<Integer, T> next() {
      T row = rows.next();
      long place = places.merge(kindOf(row), 1L, Long::sum) - 1;
      return new Tuple2<>((int) (place % ranks), row);
    }

    private Double kindOf(T row) {
      try {
        return kind.call(row);
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
