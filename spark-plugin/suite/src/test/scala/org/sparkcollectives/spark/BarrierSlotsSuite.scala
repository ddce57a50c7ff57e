package org.sparkcollectives.spark

import java.util.concurrent.{CompletableFuture, ExecutionException}

import org.scalatest.funsuite.AnyFunSuite

/** Tests how Spark ends a barrier stage that has more ranks than there are slots. */
class BarrierSlotsSuite extends AnyFunSuite with LocalCluster {

  override def executors: Int = 1

  override def settings: Map[String, String] = Map(
    "spark.scheduler.barrier.maxConcurrentTasksCheck.interval" -> "1s",
    "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures" -> "3"
  )

  test("a union with more ranks than slots fails after Spark's checks, which no cancel ends") {
    val rows = sc.parallelize(0 until 8, 2)
    val job = CompletableFuture.supplyAsync[Long](() =>
      rows.union(rows).barrier().mapPartitions(identity).count()
    )
    eventually("Spark gives up") {
      sc.cancelAllJobs()
      job.isDone
    }
    val failure = intercept[ExecutionException](job.get()).getCause
    assert(failure.getMessage.contains("SPARK-24819"), failure)
    assertTheNextJobRuns()
  }
}
