package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths}
import java.time.Duration

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._
import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.FlightDump
import org.sparkcollectives.recorder.DumpFolder
import org.sparkcollectives.spark.internal.driver.DriverStores

/** Tests that dumps of the ranks' flight recorders arrive at the driver, on failure and on request.
  */
class FlightDumpSuite extends AnyFunSuite with LocalCluster {

  private val root = Files.createTempDirectory("dumps")

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.collectives.flightRecorder.folder" -> root.toString
    )

  /** Returns the folders of an occasion, of all stages. */
  private def folders(occasion: String): Seq[Path] =
    for {
      application <- inside(root)
      stage <- inside(application)
      found <- inside(stage) if found.getFileName.toString == occasion
    } yield found

  private def inside(folder: Path): Seq[Path] =
    Option(folder.toFile.listFiles()).toSeq.flatMap(_.toSeq).map(_.toPath)

  private def dumps(folder: Path): Seq[FlightDump] =
    new DumpFolder(folder).read().toArray(Array.empty[FlightDump]).toSeq

  test("when a group fails, the driver has the dumps of all ranks and says who did not come") {
    intercept[org.apache.spark.SparkException] {
      Jobs.ranks(sc, 3) { world =>
        world.barrier().await()
        val view = world.withTimeout(Duration.ofSeconds(3))
        if (world.rank == 1) Stuck.untilTheGroupFails(world)
        else Jobs.sum(view)
      }
    }
    eventually(s"dumps, but there is ${folders("failure")}")(folders("failure").nonEmpty)
    val folder = folders("failure").head
    assert(folder.toString.contains(sc.applicationId), folder)
    eventually(s"all dumps are in $folder")(dumps(folder).map(_.rank) == Seq(0, 1, 2))
    assert(dumps(folder).map(_.executorId).distinct.size == 2)
    // If a dump comes after the report, the report is written again.
    def report = Try(Files.readString(folder.resolve("report.txt"))).getOrElse("")
    eventually(s"a report of all ranks, but there is: $report")(
      "rank 1 \\(.*\\) had not called it".r.findFirstIn(report).isDefined
    )
    assert(report.contains("all-reduce #1 (int32 x 1000, SUM)"), report)
    assert(report.contains("ranks 0 and 2 were in it"), report)
    for (rank <- 0 to 2) assert(Files.exists(folder.resolve(s"rank_$rank")))
  }

  test("ranks dump when the driver asks, and go on") {
    val path = Files.createTempDirectory("asked").toString
    val job = Future(Jobs.ranks(sc, 3) { world =>
      world.barrier().await()
      // Rank 2 is in its own code and does not respond.
      if (world.rank == 2) Stuck.awaitGo(path, 2)
      else Files.writeString(Paths.get(path, s"ready-${world.rank}"), "")
      Jobs.sum(world)
    })
    for (rank <- 0 to 2) eventually("all run")(Files.exists(Paths.get(path, s"ready-$rank")))
    val found = SparkCollectives.dump(sc, "it seems to hang", Duration.ofSeconds(60))
    assert(found.size == 1)
    val asked = dumps(found.get(0))
    assert(asked.map(_.rank) == Seq(0, 1, 2))
    assert(asked.map(_.reason).distinct == Seq("it seems to hang"))
    Files.writeString(Paths.get(path, "go"), "")
    assert(Await.result(job, 60.seconds) == Seq(6, 6, 6))
    eventually("nothing is left")(DriverStores.keys(org.apache.spark.SparkEnv.get) == 0)
    assert(SparkCollectives.dump(sc, "nothing runs", Duration.ofSeconds(1)).isEmpty)
  }
}

/** Apart from the suite, so that no task carries it along. */
object Stuck extends Patience {

  /** Announces that this rank is here, and waits. */
  def awaitGo(path: String, rank: Int): Unit = {
    Files.writeString(Path.of(path, s"ready-$rank"), "")
    eventually(s"no go in $path")(Files.exists(Path.of(path, "go")))
  }

  /** Waits, as a rank that is late for an operation. */
  def untilTheGroupFails(world: org.sparkcollectives.ProcessGroup): Int = {
    def failed: Boolean =
      try {
        world
          .withTimeout(Duration.ofSeconds(60))
          .store
          .check(java.util.Collections.singleton("nothing"))
        false
      } catch { case _: RuntimeException => true }
    eventually("the group fails")(failed)
    0
  }
}
