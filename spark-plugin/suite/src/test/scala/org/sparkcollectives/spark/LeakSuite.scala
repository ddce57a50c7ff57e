package org.sparkcollectives.spark

import java.lang.management.{BufferPoolMXBean, ManagementFactory}
import java.nio.file.{Files, Path}
import java.util.Arrays

import scala.collection.JavaConverters._

import io.netty.util.internal.PlatformDependent
import org.apache.spark.{SparkContext, SparkEnv}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{DType, ProcessGroup, ReduceOp, Tensor}

/** Runs an application of many jobs: after the last job, the executors and the driver hold no more
  * than after the second one.
  */
class LeakSuite extends AnyFunSuite with LocalCluster {

  import LeakSuite._

  // Lazy, because an instance that runs no test would leave it behind.
  private lazy val shared = Files.createTempDirectory(Path.of("/dev/shm"), "leaks-")

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.collectives.shm.folder" -> shared.toString
    )

  test("fifty jobs leave in executors and driver what two do") {
    val path = shared.toString
    run(2)
    val before = footprints(path)
    println(s"after 2 jobs $before")
    run(Count - 2)
    assert(before.keySet.size == executors)
    def grown = footprints(path).flatMap { case (executor, now) =>
      now.grownFrom(before(executor)).map(each => s"executor $executor: $each")
    }
    // No garbage is collected for this check: where none is collected, resources that only a
    // collector frees would stay.
    eventually(s"no more than after two jobs, but ${grown.mkString(", ")}")(grown.isEmpty)
    println(s"after $Count jobs ${footprints(path)}")
    assertNothingIsLeft()
    eventually(s"no threads in the driver, but ${Remains.threads}")(Remains.threads.isEmpty)
    assert(shared.toFile.list().isEmpty)
  }

  private def run(jobs: Int): Unit =
    for (_ <- 1 to jobs) {
      val ranks = LeakJob.run(sc, shared.toString)
      assert(ranks.map(_._1) == Seq(10, 10, 10, 10))
      assert(ranks.forall(_._2 > 0), "what is looked for is there while the groups are")
    }

  /** Returns the footprints by executor. */
  private def footprints(folder: String): Map[String, Footprint] = {
    val tasks = executors * cores * 4
    sc.parallelize(0 until tasks, tasks)
      .map(_ => SparkEnv.get.executorId -> Footprint.now(folder))
      .collect()
      .toMap
  }

  override def afterAll(): Unit =
    try super.afterAll()
    finally Files.delete(shared)
}

object LeakSuite {
  private val Count = 50
}

/** The resources of a process. Apart from the suite, so that no task carries it along.
  *
  * @param shared
  *   mappings and descriptors of shared memory
  * @param threads
  *   of the library
  * @param descriptors
  *   of all kinds
  * @param direct
  *   bytes of direct buffers
  * @param mapped
  *   bytes of mapped files
  * @param netty
  *   bytes of Netty's pools
  */
case class Footprint(
    shared: Int,
    threads: Int,
    descriptors: Int,
    direct: Long,
    mapped: Long,
    netty: Long
) {

  /** Returns the growth beyond what Spark's own work explains. */
  def grownFrom(before: Footprint): Seq[String] = {
    def more(what: String, now: Long, was: Long, spark: Long) =
      if (now <= was + spark) None else Some(s"$what: $now, and before $was")
    Seq(
      more("mappings and descriptors of shared memory", shared, 0, 0),
      more("threads", threads, 0, 0),
      // Spark connects its own services to each other as it needs them.
      more("descriptors", descriptors, before.descriptors, 16),
      more("direct memory", direct, before.direct, 4 << 20),
      more("mapped files", mapped, before.mapped, 0),
      // Grows by chunks, of which each of its threads may need one.
      more("Netty's memory", netty, before.netty, 32 << 20)
    ).flatten
  }
}

object Footprint {

  def now(folder: String): Footprint = {
    val maps = Files.readAllLines(Path.of("/proc/self/maps")).asScala
    val descriptors = Remains.descriptors
    val pools = ManagementFactory.getPlatformMXBeans(classOf[BufferPoolMXBean]).asScala
    def used(pool: String) = pools.filter(_.getName == pool).map(_.getMemoryUsed).sum
    Footprint(
      (maps ++ descriptors).count(_.contains(folder)),
      Remains.threads.size,
      descriptors.size,
      used("direct"),
      used("mapped"),
      PlatformDependent.usedDirectMemory()
    )
  }
}

/** A small job on four ranks that uses everything that holds memory. */
object LeakJob {

  private val Large = 3 << 19

  /** Returns the sum that each rank sees, and how much shared memory its process has meanwhile. */
  def run(sc: SparkContext, folder: String): Seq[(Int, Int)] =
    Jobs.ranks(sc, 4)(world => rank(world) -> Footprint.now(folder).shared)

  private def rank(world: ProcessGroup): Int = {
    val inGroupMemory = world.allocate(DType.FLOAT32, 10000)
    val ones = new Array[Float](10000)
    Arrays.fill(ones, 1f)
    inGroupMemory.copyFrom(ones)
    world.allReduce(inGroupMemory, ReduceOp.SUM).await()
    inGroupMemory.copyTo(ones)
    assert(ones.forall(_ == 4f))
    // Larger than a value that the driver keeps in its heap.
    if (world.rank == 0) {
      world.store.set("large", new Array[Byte](Large))
      world.store.queuePush("queue", new Array[Byte](Large))
    }
    assert(world.store.get("large").length == Large)
    if (world.rank == 1) assert(world.store.queuePop("queue", true).length == Large)
    world.checkpointReplicated("state", Arrays.asList(Tensor.of(new Array[Byte](Large): _*)))
    assert(world.objects.broadcast(ones, 0).length == ones.length)
    val across = world.newGroup(0, 3)
    if (across != null) {
      across.barrier().await()
      across.close()
    }
    val message = Tensor.of(world.rank)
    if (world.rank == 0) world.send(message, 2, 7).await()
    if (world.rank == 2) world.recv(message, 0, 7).await()
    Jobs.sum(world)
  }
}
