package org.sparkcollectives.ml.internal.rows;

import java.util.Arrays;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.BarrierTaskInfo;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/**
 * How many bytes of rows a rank may hold in its executor's heap: the part that Spark itself gives
 * to cached blocks and to shuffles, divided by the tasks that run there at the same time.
 */
public final class HeapShare {

  /** The bytes that Spark subtracts before it applies its fraction: UnifiedMemoryManager. */
  private static final long RESERVED = 300L << 20;

  private HeapShare() {}

  /** Returns the share of the rank that runs in this thread. */
  public static long ofThisRank() {
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
        Math.max(here, slots));
  }

  static long of(long heap, double fraction, long tasks) {
    return (long) (Math.max(0, heap - RESERVED) * fraction / tasks);
  }
}
