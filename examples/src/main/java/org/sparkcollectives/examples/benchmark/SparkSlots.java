package org.sparkcollectives.examples.benchmark;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;

/** How many tasks an application can run at once, when its executors are there. */
final class SparkSlots {

  /** When no further executor has come for so long, all are there of an unknown number. */
  private static final Duration SETTLED = Duration.ofSeconds(5);

  /** How long executors may take to come. */
  private static final Duration LONGEST_START = Duration.ofMinutes(2);

  private static final Pattern LOCAL_CLUSTER = Pattern.compile("local-cluster\\[\\s*(\\d+)\\s*,.*");

  private SparkSlots() {}

  /**
   * Waits for the executors that were asked for, or until no further one comes, and returns how
   * many tasks can run at once; 0 if no executor comes.
   */
  static int await(SparkContext spark) {
    int asked = executors(spark.getConf());
    long begin = System.nanoTime();
    long changed = begin;
    int slots = 0;
    boolean complete = false;
    while (!complete && System.nanoTime() - begin < LONGEST_START.toNanos()) {
      // One of those that are known is the driver.
      int come = spark.statusTracker().getExecutorInfos().length - 1;
      int now =
          spark.maxNumConcurrentTasks(spark.resourceProfileManager().defaultResourceProfile());
      if (now != slots) {
        slots = now;
        changed = System.nanoTime();
      }
      boolean settled = System.nanoTime() - changed >= SETTLED.toNanos();
      complete = slots > 0 && (asked == 0 ? settled || spark.isLocal() : come >= asked);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
    }
    return slots;
  }

  /** Returns how many executors an application asks for; 0 if it does not say. */
  static int executors(SparkConf conf) {
    Matcher cluster = LOCAL_CLUSTER.matcher(conf.get("spark.master", ""));
    return cluster.matches()
        ? Integer.parseInt(cluster.group(1))
        : conf.getInt("spark.executor.instances", 0);
  }
}
