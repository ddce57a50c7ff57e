package org.sparkcollectives.spark

import java.util.concurrent.{Callable, ExecutionException, Executors, TimeUnit, TimeoutException}

import org.scalatest.funsuite.AnyFunSuite

/** What docs/operate/troubleshooting.md says of a barrier stage of the user's own without slots. */
class BarrierSlotsSuite extends AnyFunSuite with LocalCluster {

  override def executors: Int = 1

  override def settings: Map[String, String] = Map(
    "spark.scheduler.barrier.maxConcurrentTasksCheck.interval" -> "1s",
    "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures" -> "3"
  )

  test("a union with more ranks than slots fails after Spark's checks, which no cancel ends") {
    val rows = sc.parallelize(0 until 8, 2)
    val thread = Executors.newSingleThreadExecutor()
    val job = thread.submit(
      (() => rows.union(rows).barrier().mapPartitions(identity).count()): Callable[Long]
    )
    var failure: Throwable = null
    while (failure == null) {
      sc.cancelAllJobs()
      try {
        job.get(100, TimeUnit.MILLISECONDS)
        fail("four ranks had two slots")
      } catch {
        case _: TimeoutException   =>
        case e: ExecutionException => failure = e.getCause
      }
    }
    thread.shutdown()
    assert(failure.getMessage.contains("SPARK-24819"), failure)
    assertTheNextJobRuns()
  }
}
