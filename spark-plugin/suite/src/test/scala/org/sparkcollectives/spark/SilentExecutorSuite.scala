package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths}

import org.apache.spark.SparkEnv
import org.scalatest.funsuite.AnyFunSuite

/** Executors that stand still without dying, which Spark itself notices after two minutes. */
class SilentExecutorSuite extends AnyFunSuite with LocalCluster {

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.collectives.heartbeat.timeout" -> "3s"
    )

  test("when an executor stands still, the ranks on others and the driver are told which one") {
    val folder = Files.createTempDirectory("silent")
    val path = folder.toString
    try {
      val error = intercept[org.apache.spark.SparkException] {
        Jobs.ranks(sc, 4) { world =>
          Files.writeString(Paths.get(path, s"executor-${world.rank}"), SparkEnv.get.executorId)
          Jobs.keepingFailure(path, world) {
            world.barrier().await()
            if (world.rank == 3) StandingStill.stopThisProcess(path)
            Jobs.sum(world)
          }
        }
      }
      assert(error.getMessage.contains("has fallen silent"), error.getMessage)
    } finally StandingStill.kill(folder)
    def executor(rank: Int) = Files.readString(folder.resolve(s"executor-$rank"))
    val survivors = (0 to 2).filter(rank => executor(rank) != executor(3))
    assert(survivors.nonEmpty, "the ranks are on two executors")
    for (rank <- survivors) {
      eventually(s"rank $rank says why it failed")(Files.exists(folder.resolve(rank.toString)))
      val failure = Jobs.read(folder, rank)
      assert(failure.startsWith("SILENT"), failure)
      assert(failure.contains(s"executor ${executor(3)}"), failure)
    }
    eventually("the executor is replaced")(sc.getExecutorMemoryStatus.size == executors + 1)
    assert(Jobs.ranks(sc, 4)(Jobs.sum) == Seq(10, 10, 10, 10), "the next job runs")
  }
}

/** Apart from the suite, so that no task carries it along. */
object StandingStill {

  private def signal(name: String, pid: String): Unit =
    new ProcessBuilder("kill", name, pid).start().waitFor()

  /** All threads of this process stop; nothing is said, and no connection breaks. */
  def stopThisProcess(path: String): Unit = {
    val pid = ProcessHandle.current().pid().toString
    Files.writeString(Path.of(path, "stopped"), pid)
    signal("-STOP", pid)
  }

  /** Spark would wait for the stopped executor for two minutes. */
  def kill(folder: Path): Unit =
    if (Files.exists(folder.resolve("stopped")))
      signal("-9", Files.readString(folder.resolve("stopped")))
}
