package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths}
import java.time.Duration

import scala.collection.mutable
import scala.collection.mutable.ListBuffer

import org.apache.spark.{SparkConf, SparkEnv}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.faults.Outcome

/** Tests each fault in each phase at some moment, on a cluster that lives on from case to case: no
  * rank hangs, the errors of the other ranks and of the job say which rank it was and what happened
  * to it, nothing is left behind, and the next job runs.
  *
  * Every build runs a sample, the profile `faults` ten rounds of all. `-Dfaults.seed`,
  * `-Dfaults.first` and `-Dfaults.count` repeat cases.
  */
class ClusterFaultSuite extends AnyFunSuite with LocalCluster {

  import ClusterFaultSuite._

  // Lazy, because an instance that runs no test would leave it behind.
  private lazy val shared = Files.createTempDirectory(Path.of("/dev/shm"), "faults-")

  private val socketsBefore = mutable.Map.empty[String, Int]

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.collectives.shm.folder" -> shared.toString,
      "spark.collectives.heartbeat.timeout" -> "4s",
      "spark.collectives.store.timeout" -> s"${FaultedRank.Rendezvous.toMillis}ms",
      // Executors that are given up so often are not given up for good.
      "spark.deploy.maxExecutorRetries" -> "-1"
    )

  override def conf: SparkConf = {
    val outcomes = classOf[Outcome].getProtectionDomain.getCodeSource.getLocation.toURI
    super.conf.set("spark.jars", (LocalCluster.jars :+ Paths.get(outcomes).toString).mkString(","))
  }

  test("nothing hangs, everything is explained, and nothing is left behind") {
    val seed = java.lang.Long.getLong("faults.seed", System.nanoTime() >>> 20).toLong
    val first = Integer.getInteger("faults.first", 0).toInt
    val asBuilt = Integer.getInteger("collectives.faults.count", Sample)
    val count = Integer.getInteger("faults.count", asBuilt).toInt
    val wrong = ListBuffer.empty[String]
    val start = System.nanoTime()
    def spent = System.nanoTime() - start
    assertTheNextJobRuns()
    var number = first
    while (
      number < first + count && wrong.size < MostProblems && (count > Sample || spent < Budget)
    ) {
      wrong ++= carryOut(ClusterFaultCase.of(seed, number))
      number += 1
    }
    assertNothingIsLeft()
    // The driver's own threads end after five seconds without work.
    eventually(s"no threads in the driver, but ${Remains.threads}")(Remains.threads.isEmpty)
    println(s"${number - first} cases of seed $seed in ${spent / 1000000000L} s")
    assert(wrong.isEmpty, wrong.mkString("\n"))
  }

  private def carryOut(fault: ClusterFaultCase): Seq[String] = {
    val run = new ClusterFaultRun(sc, fault)
    val problems = ListBuffer.empty[String]
    try {
      run.run().foreach(awaitReplaced)
      problems ++= run.problem
      assertTheNextJobRuns()
      problems ++= remains()
      problems ++= furtherSockets()
    } catch {
      case e: Exception      => problems += e.toString
      case e: AssertionError => problems += e.toString
    }
    println(run.story)
    problems.foreach(each => println(s"  WRONG: $each"))
    problems.map(each => s"$fault: $each").toSeq
  }

  /** Returns what is left in the executors, and in the folder of shared memory. */
  private def remains(): Option[String] = {
    val path = shared.toString
    def files = shared.toFile.list().toSeq
    def left =
      onAllExecutors(() => Remains.now(path).mkString("\n")).filter(_.nonEmpty) ++ files
    val end = System.nanoTime() + Duration.ofSeconds(60).toNanos
    var found = left
    while (found.nonEmpty && System.nanoTime() < end) found = left
    if (found.isEmpty) None else Some(s"left behind: ${found.mkString(", ")}")
  }

  /** Returns the executors with more sockets than after their first case, beyond those that Spark
    * itself may open.
    */
  private def furtherSockets(): Seq[String] =
    onAllExecutors(() => s"${SparkEnv.get.executorId} ${Remains.sockets}")
      .map(_.split(" "))
      .flatMap { case Array(executor, count) =>
        val before = socketsBefore.getOrElseUpdate(executor, count.toInt)
        if (count.toInt <= before + SparksOwn) None
        else Some(s"executor $executor has $count sockets, and had $before")
      }

  private def onAllExecutors(ask: () => String): Seq[String] = {
    val tasks = executors * cores * 2
    sc.parallelize(0 until tasks, tasks).map(_ => ask()).collect().distinct.toSeq
  }

  override def afterAll(): Unit =
    try super.afterAll()
    finally Files.delete(shared)
}

object ClusterFaultSuite {

  /** Each fault twice. */
  private val Sample = 14

  /** The time after which the sample ends; on a busy machine it is therefore smaller. */
  private val Budget = Duration.ofSeconds(75).toNanos

  /** The connections between Spark's own services, which come and go. */
  private val SparksOwn = 16

  /** The number of problems after which the run stops. */
  private val MostProblems = 5
}

/** The resources of the library in a process in which there is no group. Apart from the suite. */
object Remains {

  /** Returns threads, and memory and open files under `folder`. */
  def now(folder: String): Seq[String] = {
    val executor = s"executor ${SparkEnv.get.executorId}"
    System.gc()
    val maps = Files.readAllLines(Path.of("/proc/self/maps")).toArray.map(_.toString).toSeq
    threads.map(each => s"$executor: thread $each") ++
      (maps ++ descriptors).filter(_.contains(folder)).map(each => s"$executor: $each")
  }

  def threads: Seq[String] = Jobs.ownThreads.toSeq

  /** Returns how many sockets this process has. */
  def sockets: Int = descriptors.count(_.startsWith("socket:"))

  def descriptors: Seq[String] =
    Path
      .of("/proc/self/fd")
      .toFile
      .listFiles()
      .map { each =>
        // A descriptor that is closed meanwhile leads nowhere.
        try Files.readSymbolicLink(each.toPath).toString
        catch { case _: java.io.IOException => "" }
      }
      .toSeq
}
