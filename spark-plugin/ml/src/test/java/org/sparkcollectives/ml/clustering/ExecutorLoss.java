package org.sparkcollectives.ml.clustering;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.RDDInfo;
import scala.collection.Iterable;
import scala.collection.Iterator;

/**
 * Kills the process of one executor as soon as all ranks of the next barrier stage have started.
 */
final class ExecutorLoss extends SparkListener implements AutoCloseable {

  private final SparkSession spark;
  private final ProcessHandle executor;
  private final int ranks;
  private final AtomicInteger stages = new AtomicInteger();
  private volatile int barrierStage = -1;
  private int started;

  private ExecutorLoss(SparkSession spark, int ranks, ProcessHandle executor) {
    this.spark = spark;
    this.ranks = ranks;
    this.executor = executor;
  }

  static ExecutorLoss inTheNextBarrierStage(SparkSession spark) {
    int slots = spark.sparkContext().defaultParallelism();
    List<Long> processes =
        new JavaSparkContext(spark.sparkContext())
            .parallelize(List.of(0), 1)
            .map(row -> ProcessHandle.current().pid())
            .collect();
    ExecutorLoss loss =
        new ExecutorLoss(spark, slots, ProcessHandle.of(processes.get(0)).orElseThrow());
    spark.sparkContext().addSparkListener(loss);
    return loss;
  }

  /** Returns how many barrier stages there were. */
  int stages() {
    return stages.get();
  }

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted event) {
    if (isBarrier(event.stageInfo())) {
      barrierStage = event.stageInfo().stageId();
      stages.incrementAndGet();
    }
  }

  private static boolean isBarrier(StageInfo stage) {
    try {
      // The type that it returns is another one on Scala 2.12.
      Object rdds = StageInfo.class.getMethod("rddInfos").invoke(stage);
      for (Iterator<?> each = ((Iterable<?>) rdds).iterator(); each.hasNext(); ) {
        if (((RDDInfo) each.next()).isBarrier()) {
          return true;
        }
      }
      return false;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void onTaskStart(SparkListenerTaskStart event) {
    if (event.stageId() == barrierStage && stages.get() == 1 && ++started == ranks) {
      executor.destroyForcibly();
    }
  }

  @Override
  public void close() {
    spark.sparkContext().removeSparkListener(this);
  }
}
