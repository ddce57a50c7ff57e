package org.sparkcollectives.spark

import java.nio.file.{Files, Path}
import java.util.concurrent.CountDownLatch

import org.scalatest.funsuite.AnyFunSuite

/** Tests executors that stop without dying, which Spark itself notices after two minutes. */
class UnresponsiveExecutorSuite extends AnyFunSuite with LocalCluster with HitExecutor {

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.collectives.heartbeat.timeout" -> "3s"
    )

  test("when an executor hangs, the ranks on others and the driver are told which one") {
    val error =
      whenTheExecutorOfRank3IsHit(ClusterFault.EXECUTOR_STOP)(StandingStill.stopThisProcess)(
        StandingStill.kill
      )
    assert(error.contains("is unresponsive"), error)
    assertTheNextJobRuns()
  }
}

/** Apart from the suite, so that no task carries it along. */
object StandingStill {

  /** Stops all threads of this process; it sends nothing, and no connection breaks. */
  def stopThisProcess(path: String): Unit = {
    val pid = ProcessHandle.current().pid().toString
    Files.writeString(Path.of(path, "stopped"), pid)
    Signal.send("-STOP", pid)
    // On a busy machine the signal takes effect late: this thread must not go on until then.
    new CountDownLatch(1).await()
  }

  /** Kills the stopped executor, for which Spark would wait for two minutes. */
  def kill(folder: Path): Unit =
    if (Files.exists(folder.resolve("stopped")))
      Signal.send("-9", Files.readString(folder.resolve("stopped")))
}
