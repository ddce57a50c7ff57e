package org.sparkcollectives.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.sparkcollectives.spark.event.ComparedOperation;
import org.sparkcollectives.spark.event.GroupEnded;
import org.sparkcollectives.spark.event.GroupFailed;
import org.sparkcollectives.spark.event.GroupMade;
import org.sparkcollectives.spark.event.GroupProgress;
import org.sparkcollectives.spark.event.GroupSums;
import org.sparkcollectives.spark.event.OperationSums;
import org.sparkcollectives.spark.event.RankPlace;
import org.sparkcollectives.spark.event.RankSums;

/** Posts events with figures that are known, as the driver posts those of real groups. */
public final class PostedEvents {

  /** Hours that nobody has in a real log. */
  private static final long START = 1_767_258_000_000L;

  private static final int RANKS = 8;
  private static final int SLOWEST = 5;
  private static final int INTERVALS = 60;
  private static final long INTERVAL = 10_000;
  private static final long ID = 1_000_000;

  private PostedEvents() {}

  /** Posts the life of a group whose rank 5 is slower than the others, and in the end fails. */
  public static void post(SparkContext context, String name) {
    List<RankPlace> places = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      places.add(
          new RankPlace(rank, rank < 4 ? "host-a" : "host-b", Integer.toString(rank / 2), 1, 2, 4));
    }
    post(context, new GroupMade(ID, name, START, 0, 0, RANKS, places));
    for (int i = 1; i <= INTERVALS; i++) {
      post(context, new GroupProgress(ID, name, START + i * INTERVAL, sums(i)));
    }
    long end = START + INTERVALS * INTERVAL + 5000;
    post(
        context,
        new GroupFailed(
            ID,
            name,
            end,
            SLOWEST,
            "host-b",
            "2",
            "EXECUTOR_LOST",
            "rank 5 (host-b, executor 2) lost its executor <b>while</b> all-reduce #60000 ran",
            "/tmp/spark-collectives-dumps/app/stage-0.0/failure",
            "rank 5 had not called all-reduce #60000"));
    post(context, new GroupEnded(ID, name, end + 1000, true, sums(INTERVALS)));
  }

  private static void post(
      SparkContext context, org.apache.spark.scheduler.SparkListenerEvent event) {
    context.listenerBus().post(event);
  }

  private static GroupSums sums(int interval) {
    double inside = 0;
    for (int i = 1; i <= interval; i++) {
      inside += INTERVAL * (0.5 + 0.2 * Math.sin(i / 6.0));
    }
    long insideMillis = (long) inside;
    long outsideMillis = interval * INTERVAL - insideMillis;
    List<RankSums> ranks = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      boolean slow = rank == SLOWEST;
      ranks.add(
          new RankSums(
              rank,
              interval * 1000L,
              interval * 4_194_304_000L,
              slow ? interval * 7 : interval / 8,
              slow ? interval * 1200L : interval * 9L,
              slow ? 0.31 : (rank - 3) / 200.0,
              slow,
              slow ? insideMillis / 3 : insideMillis,
              slow ? outsideMillis + insideMillis * 2 / 3 : outsideMillis));
    }
    return new GroupSums(
        interval * 1000L * RANKS,
        0,
        interval * 4_194_304_000L * RANKS,
        0,
        0,
        interval * 8L,
        interval > 40 ? 0.7 : 0.25,
        insideMillis * RANKS,
        outsideMillis * RANKS,
        List.of(
            operation("ALL_REDUCE", 22, "ring", interval * 900L, 0.0031, 0.0121, 2.37e9, 1.3e-3),
            operation(
                "ALL_REDUCE", 12, "recursive-doubling", interval * 90L, 8e-5, 4e-4, 8.8e7, 3e-5),
            operation("BARRIER", -1, "dissemination", interval * 10L, 5.2e-5, 2e-4, 0, 2e-5)),
        ranks,
        Map.of("done", (double) interval, "total", (double) INTERVALS),
        "loss 0.125",
        newest(interval));
  }

  private static List<ComparedOperation> newest(int interval) {
    List<ComparedOperation> newest = new ArrayList<>();
    for (int i = 0; i < GroupSums.MOST_NEWEST; i++) {
      boolean slow = i % 5 != 0;
      newest.add(
          new ComparedOperation(
              interval * 1000L + 60L * i,
              "ALL_REDUCE",
              0.0018 + 0.0001 * (i % 3),
              slow ? 0.0013 : 0.0002,
              slow ? SLOWEST : i % RANKS));
    }
    return newest;
  }

  private static OperationSums operation(
      String kind,
      int sizeClass,
      String algorithm,
      long count,
      double p50,
      double p99,
      double bus,
      double waited) {
    long bytes = sizeClass < 0 ? 0 : (1L << sizeClass) * count * RANKS;
    return new OperationSums(
        kind, sizeClass, algorithm, count * RANKS, bytes, p50, p99, bus, count / 10, waited);
  }
}
