package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths}

import org.apache.spark.{SparkConf, SparkException}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{Failure, ProcessGroup}
import org.sparkcollectives.faults.Outcome

/** Tests a task of a barrier stage that ends without having asked for its group: the others, which
  * wait for it, name it at once, and say what has become of it.
  */
trait NeverJoined extends AnyFunSuite with LocalCluster {

  import AbsentRank._

  /** The way in which a stage is created, how a rank of it that never joins ends, and the kind of
    * failure that is reported.
    */
  protected case class Absence(way: String, end: String, kind: Failure.Kind)

  protected val InBarrier = "rdd.barrier()"
  protected val InBarrierStage = "BarrierStage"

  /** Far longer than it takes, even on a slow machine, and far shorter than the deadline of the
    * rendezvous.
    */
  private val Limit = 60

  /** The number of tries of each end that costs no executor. */
  private val Times = Integer.getInteger("collectives.absence.times", 3).toInt

  override def settings: Map[String, String] = Map("spark.collectives.store.timeout" -> "150s")

  override def conf: SparkConf = {
    val outcomes = classOf[Outcome].getProtectionDomain.getCodeSource.getLocation.toURI
    super.conf.set("spark.jars", (LocalCluster.jars :+ Paths.get(outcomes).toString).mkString(","))
  }

  protected val Returned = Absence(InBarrier, Returns, Failure.Kind.PEER_FINISHED)
  protected val Threw = Absence(InBarrier, Throws, Failure.Kind.EXCEPTION)
  protected val Killed = Absence(InBarrier, IsKilled, Failure.Kind.EXECUTOR_LOST)
  protected val ThrewInStage = Absence(InBarrierStage, Throws, Failure.Kind.EXCEPTION)
  protected val KilledInStage = Absence(InBarrierStage, IsKilled, Failure.Kind.EXECUTOR_LOST)

  /** Tests that the others name the rank. */
  protected def isNamed(absence: Absence): Unit =
    test(s"a rank of ${absence.way} that ${absence.end} before it joins is named by the others") {
      val times = if (absence.end == IsKilled) 1 else Times
      val millis = (1 to times).flatMap(_ => run(absence)).sorted
      println(
        f"${getClass.getSimpleName}: $absence is named after ${millis(millis.size / 2)}%.0f ms" +
          f" (median of ${millis.size}; the last after ${millis.last}%.0f)"
      )
      assertTheNextJobRuns()
      assertNothingIsLeft()
    }

  private def run(absence: Absence): Seq[Double] = {
    val folder = Files.createTempDirectory("absent")
    val error = intercept[SparkException](submit(absence, folder.toString))
    eventually("the absent rank has ended")(Files.exists(folder.resolve("ended")))
    val ended = Files.readString(folder.resolve("ended")).toLong
    val executors = (0 until Size).map(rank => Files.readString(folder.resolve(s"executor-$rank")))
    def isLost(rank: Int) =
      rank == Absent || (absence.end == IsKilled && executors(rank) == executors(Absent))
    val others = (0 until Size).filterNot(isLost)
    assert(others.nonEmpty)
    if (absence.end == IsKilled) awaitReplaced(executors(Absent))
    if (absence.end == Throws) assert(error.getMessage.contains(Thrown), error.getMessage)
    if (absence.end == Returns) assert(error.getMessage.contains("rank 1"), error.getMessage)
    others.map { rank =>
      val outcome = read(folder, rank)
      val lost = (0 until Size).filter(isLost).filter(outcome.names)
      assert(outcome.exception == "PeerFailedException" && lost.nonEmpty, outcome)
      assert(outcome.kind == absence.kind.toString, outcome)
      assert(outcome.message.contains(s"executor ${executors(lost.head)}"), outcome)
      if (absence.end == Throws) assert(outcome.message.contains(Thrown), outcome)
      val millis = (outcome.micros - ended) / 1000.0
      assert(millis < Limit * 1000, outcome)
      millis
    }
  }

  private def read(folder: Path, rank: Int): Outcome = {
    eventually(s"rank $rank says how it failed")(Files.exists(folder.resolve(s"outcome-$rank")))
    Outcome.decode(Files.readString(folder.resolve(s"outcome-$rank")))
  }

  protected def submit(absence: Absence, path: String): Unit = {
    val end = absence.end
    val rows = sc.parallelize(0 until Size, Size)
    if (absence.way == InBarrier)
      rows.barrier().mapPartitions(_ => Iterator(AbsentRank.inBarrier(path, end))).collect()
    else {
      val function: RankFunction[Int, Integer] =
        (world: ProcessGroup, _: java.util.Iterator[Int]) =>
          java.util.List.of[Integer](world.size).iterator()
      // In a task of a BarrierStage, the computation of its rows comes before the world is created.
      val failing = rows.mapPartitions { each =>
        AbsentRank.goesOn(path, end)
        each
      }
      BarrierStage.of(failing).mapPartitions(function).collect()
    }
  }
}

/** Runs with the plugin. */
class NeverJoinedSuite extends NeverJoined {

  override def settings: Map[String, String] =
    super.settings + ("spark.plugins" -> classOf[CollectivesPlugin].getName)

  isNamed(Returned)
  isNamed(Threw)
  isNamed(Killed)
  isNamed(ThrewInStage)
  isNamed(KilledInStage)

  test("a barrier stage that uses no group is left alone, however its tasks end") {
    val tasks = sc.parallelize(0 until 4, 4).barrier().mapPartitions { _ =>
      val rank = org.apache.spark.TaskContext.getPartitionId()
      Thread.sleep(50L * rank)
      Iterator(rank)
    }
    assert(tasks.collect().toSeq == Seq(0, 1, 2, 3))
    assertNothingIsLeft()
  }
}

/** Runs with a driver's store that was installed in a running application. */
class NeverJoinedInstalledSuite extends NeverJoined {

  // Spark's own limit of a barrier bounds the wait without a driver's store.
  override def settings: Map[String, String] =
    super.settings + ("spark.barrier.sync.timeout" -> "5")

  test("without the driver's store the others wait for as long as Spark has tasks wait") {
    val folder = Files.createTempDirectory("absent")
    val error = intercept[SparkException](submit(Returned, folder.toString))
    assert(error.getMessage.contains("didn't get all barrier sync requests"), error.getMessage)
    SparkCollectives.install(sc)
  }

  isNamed(Returned)
  isNamed(Killed)
  isNamed(ThrewInStage)
}
