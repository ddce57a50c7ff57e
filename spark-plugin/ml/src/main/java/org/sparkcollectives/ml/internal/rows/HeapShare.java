package org.sparkcollectives.ml.internal.rows;

import java.util.Arrays;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.BarrierTaskInfo;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/**
 * How many bytes of rows a rank may hold in its executor's heap: of the part that Spark itself
 * gives to cached blocks and to shuffles, what the cache leaves, but at least half, divided by the
 * tasks that run there at the same time.
 */
public final class HeapShare {

  /** The bytes that Spark subtracts before it applies its fraction: UnifiedMemoryManager. */
  private static final long RESERVED = 300L << 20;

  private HeapShare() {}

  /**
   * Returns the share of the rank that runs in this thread. Blocks that Spark has in its cache are
   * not the rank's: with them, and as many rows again, the heap would be full.
   */
  public static long ofThisRank() {
    return ofThisRank(SparkEnv.get().memoryManager().storageMemoryUsed());
  }

  /** Returns the share of the rank that runs in this thread, however much is cached. */
  static long besideAnyCache() {
    return ofThisRank(Long.MAX_VALUE);
  }

  private static long ofThisRank(long cached) {
    SparkConf conf = SparkEnv.get().conf();
    BarrierTaskContext context = BarrierTaskContext.get();
    BarrierTaskInfo[] ranks = context.getTaskInfos();
    String own = ranks[context.partitionId()].address();
    long here = Arrays.stream(ranks).filter(rank -> rank.address().equals(own)).count();
    double taskCpus = conf.getDouble("spark.task.cpus", 1); // May be a fraction since Spark 4.3.
    long slots = (long) (conf.getInt("spark.executor.cores", 1) / taskCpus);
    return of(
        Runtime.getRuntime().maxMemory(),
        conf.getDouble("spark.memory.fraction", 0.6),
        cached,
        Math.max(here, slots));
  }

  static long of(long heap, double fraction, long cached, long tasks) {
    long unified = (long) (Math.max(0, heap - RESERVED) * fraction);
    return Math.max(unified - cached, unified / 2) / tasks;
  }
}
