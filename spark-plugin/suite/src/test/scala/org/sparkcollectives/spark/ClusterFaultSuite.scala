package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths}
import java.time.Duration

import scala.collection.mutable.ListBuffer

import org.apache.spark.{SparkConf, SparkEnv}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.faults.Outcome

/** Each fault in each phase at some moment, on a cluster that lives on from case to case: nobody
  * hangs, the other ranks and the job's error say which rank it was and what happened to it,
  * nothing is left behind, and the next job runs.
  *
  * Every build runs a sample, the profile `faults` ten rounds of all. `-Dfaults.seed`,
  * `-Dfaults.first` and `-Dfaults.count` bring cases again.
  */
class ClusterFaultSuite extends AnyFunSuite with LocalCluster {

  import ClusterFaultSuite._

  private val shared = Files.createTempDirectory(Path.of("/dev/shm"), "faults-")

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.collectives.shm.folder" -> shared.toString,
      "spark.collectives.heartbeat.timeout" -> "2s",
      "spark.collectives.heartbeat.interval" -> "200ms",
      "spark.collectives.store.timeout" -> s"${FaultedRank.Rendezvous.toMillis}ms",
      // What is given up here often is not given up for good.
      "spark.deploy.maxExecutorRetries" -> "-1"
    )

  override def conf: SparkConf = {
    val outcomes = classOf[Outcome].getProtectionDomain.getCodeSource.getLocation.toURI
    super.conf.set("spark.jars", (LocalCluster.jars :+ Paths.get(outcomes).toString).mkString(","))
  }

  test("nothing hangs, everything is explained, and nothing is left behind") {
    val seed = java.lang.Long.getLong("faults.seed", System.nanoTime() >>> 20).toLong
    val first = Integer.getInteger("faults.first", 0).toInt
    val count = Integer.getInteger("faults.count", Sample).toInt
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
    } catch {
      case e: Exception      => problems += e.toString
      case e: AssertionError => problems += e.toString
    }
    println(run.story)
    problems.foreach(each => println(s"  WRONG: $each"))
    problems.map(each => s"$fault: $each").toSeq
  }

  /** What is left in the executors, and in the folder of shared memory. */
  private def remains(): Option[String] = {
    val path = shared.toString
    def files = shared.toFile.list().toSeq
    def left = sc
      .parallelize(0 until executors * cores * 2, executors * cores * 2)
      .map(_ => Remains.now(path))
      .collect()
      .flatten
      .distinct
      .toSeq ++ files
    val end = System.nanoTime() + Duration.ofSeconds(20).toNanos
    var found = left
    while (found.nonEmpty && System.nanoTime() < end) found = left
    if (found.isEmpty) None else Some(s"left behind: ${found.mkString(", ")}")
  }

  override def afterAll(): Unit =
    try super.afterAll()
    finally Files.delete(shared)
}

object ClusterFaultSuite {

  /** Each fault twice. */
  private val Sample = 14

  /** On a busy machine the sample is smaller. */
  private val Budget = Duration.ofSeconds(75).toNanos

  /** So many that go wrong tell enough. */
  private val MostProblems = 5
}

/** What of the library is in a process in which there is no group. Apart from the suite. */
object Remains {

  /** Threads, memory and open files under `folder`, and sockets that listen beside Spark's own. */
  def now(folder: String): Seq[String] = {
    val executor = s"executor ${SparkEnv.get.executorId}"
    val threads = Thread.getAllStackTraces.keySet
      .toArray(Array.empty[Thread])
      .map(_.getName)
      .filter(_.startsWith("collectives-"))
    System.gc()
    val maps = Files.readAllLines(Path.of("/proc/self/maps")).toArray.map(_.toString)
    val descriptors = Path.of("/proc/self/fd").toFile.listFiles().map { each =>
      try Files.readSymbolicLink(each.toPath).toString
      catch { case _: java.io.IOException => "" }
    }
    threads.map(each => s"$executor: thread $each").toSeq ++
      (maps ++ descriptors).filter(_.contains(folder)).map(each => s"$executor: $each")
  }
}
