package org.sparkcollectives.spark

import java.lang.management.{ManagementFactory, MemoryType}
import java.util.concurrent.TimeUnit

import scala.util.Random

import org.apache.spark.SparkConf
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{DType, ProcessGroup, Tensor}
import org.sparkcollectives.spark.internal.driver.SmallPieces
import org.sparkcollectives.store.Store

/** State and objects that are larger than the driver's heap has room for. The driver is this JVM,
  * which has 1 GiB. Every build tries small ones in small pieces; the profile `soak` 64 ranks with
  * 16 MiB each, four times, a checkpoint of 8 GiB, the largest value, and objects of more than 2
  * GiB.
  */
class LargeValuesSuite extends AnyFunSuite with LocalCluster {

  private val soak = java.lang.Boolean.getBoolean("collectives.soak")
  private val ranks = if (soak) 64 else 4
  private val elements = (if (soak) 16 << 20 else 4 << 20) / 8
  private val versions = 4

  override def cores: Int = ranks / executors

  override def settings: Map[String, String] =
    if (soak) Map("spark.plugins" -> classOf[CollectivesPlugin].getName)
    else
      Map(
        "spark.plugins" -> s"${classOf[SmallPieces].getName},${classOf[CollectivesPlugin].getName}",
        "spark.collectives.store.maxSize" -> "64m"
      )

  override def conf: SparkConf = {
    val memory = if (soak) 6144 else 1024
    super.conf
      .setMaster(s"local-cluster[$executors,$cores,$memory]")
      .set("spark.executor.memory", s"${memory}m")
  }

  test("checkpoints of all ranks are restored bit for bit, and the driver's heap stays bounded") {
    val heap = new HeapWatch
    val start = System.nanoTime()
    val (many, times) = (elements, versions)
    val wrong = Jobs.ranks(sc, ranks)(world => LargeValueJobs.keepAndRestore(world, many, times))
    val seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start)
    val mib = ranks.toLong * elements * 8 * versions >> 20
    println(s"$mib MiB of checkpoints kept and restored in $seconds s, ${heap.stop()}")
    assert(wrong.forall(_ == 0), s"elements that differ, by rank: $wrong")
    assertNothingIsLeft()
  }

  test("a checkpoint that does not fit is refused on all ranks, and what was kept stays") {
    assume(!soak)
    val texts = Jobs.ranks(sc, 2)(world => LargeValueJobs.keepTooMuch(world, 4 << 20))
    texts.foreach { text =>
      assert(text.contains("spark.collectives.store.maxSize"), text)
      assert(text.contains(s"the ${64 << 20} bytes of all ranks do not fit"), text)
    }
    assertNothingIsLeft()
  }

  test("a checkpoint of several tensors on each of four ranks is restored bit for bit") {
    val (tensors, length) = if (soak) (4, 64 << 20) else (4, 128 << 10)
    val wrong = Jobs.ranks(sc, 4)(world => LargeValueJobs.keepTensors(world, tensors, length))
    assert(wrong.forall(_ == 0), s"elements that differ, by rank: $wrong")
    assertNothingIsLeft()
  }

  test("a value that is as large as one can be reaches another rank") {
    val size = if (soak) Store.MAX_VALUE_BYTES else 8 << 20
    val seen = Jobs.ranks(sc, 2)(world => LargeValueJobs.pass(world, size))
    assert(seen == Seq(0, 0), s"bytes that differ, by rank: $seen")
    assertNothingIsLeft()
  }

  test("an object that is larger than an array can be is broadcast") {
    val (arrays, length) = if (soak) (36, (64 << 20) - 1024) else (8, 1 << 20)
    val sums = Jobs.ranks(sc, 2)(world => LargeValueJobs.broadcast(world, arrays, length))
    assert(sums.distinct.size == 1, sums)
    assertNothingIsLeft()
  }
}

/** How much of this JVM's heap is in use, and is after collections, at the most. */
class HeapWatch {

  private val pools = ManagementFactory.getMemoryPoolMXBeans
    .toArray(Array.empty[java.lang.management.MemoryPoolMXBean])
    .filter(_.getType == MemoryType.HEAP)
  @volatile private var most = 0L
  @volatile private var mostLive = 0L
  @volatile private var stopped = false

  private val thread = new Thread(() =>
    while (!stopped) {
      most = math.max(most, pools.map(_.getUsage.getUsed).sum)
      mostLive = math.max(
        mostLive,
        pools.flatMap(pool => Option(pool.getCollectionUsage)).map(_.getUsed).sum
      )
      TimeUnit.MILLISECONDS.sleep(100)
    }
  )
  thread.setDaemon(true)
  thread.start()

  def stop(): String = {
    stopped = true
    thread.join()
    s"the driver's heap: ${most >> 20} MiB at the most, ${mostLive >> 20} MiB after collections"
  }
}

/** Apart from the suite, so that no task carries it along. */
object LargeValueJobs {

  /** How many elements differ after they were kept and restored. */
  def keepAndRestore(world: ProcessGroup, elements: Int, versions: Int): Int = {
    val values = new Array[Long](elements)
    val state = java.util.Collections.singletonList(Tensor.wrap(DType.INT64, values))
    var wrong = 0
    for (version <- 1 to versions) {
      fill(values, world.rank, version)
      world.checkpoint("state", state)
      java.util.Arrays.fill(values, 0L)
      require(world.restore("state", state), "there is no checkpoint")
      val random = new java.util.SplittableRandom(seed(world.rank, version))
      values.foreach(value => if (value != random.nextLong()) wrong += 1)
    }
    wrong
  }

  /** How many elements of several tensors differ after they were kept and restored. */
  def keepTensors(world: ProcessGroup, tensors: Int, length: Int): Int = {
    val values = Array.fill(tensors)(new Array[Long](length))
    val state = java.util.Arrays.asList(values.map(each => Tensor.wrap(DType.INT64, each)): _*)
    for (i <- values.indices) fill(values(i), world.rank, i)
    world.checkpoint("tensors", state)
    values.foreach(each => java.util.Arrays.fill(each, 0L))
    require(world.restore("tensors", state), "there is no checkpoint")
    var wrong = 0
    for (i <- values.indices) {
      val random = new java.util.SplittableRandom(seed(world.rank, i))
      values(i).foreach(value => if (value != random.nextLong()) wrong += 1)
    }
    wrong
  }

  /** How many of some bytes of rank 0's value differ where rank 1 gets it. */
  def pass(world: ProcessGroup, size: Int): Int = {
    val step = 4093
    val value = if (world.rank == 0) new Array[Byte](size) else world.store().get("large")
    require(value.length == size, s"${value.length} bytes instead of $size")
    var wrong = 0
    for (i <- 0 until size by step) {
      val expected = (i / step).toByte
      if (world.rank == 0) value(i) = expected else if (value(i) != expected) wrong += 1
    }
    if (world.rank == 0) {
      world.store().set("large", value)
      if (size == Store.MAX_VALUE_BYTES) requireRefusal(world)
    }
    world.barrier().await()
    wrong
  }

  private def requireRefusal(world: ProcessGroup): Unit = {
    val text =
      try {
        world.store().set("larger", new Array[Byte](Store.MAX_VALUE_BYTES + 1))
        "it was kept"
      } catch { case e: IllegalArgumentException => e.getMessage }
    require(text.contains(s"${Store.MAX_VALUE_BYTES} bytes; store it in parts"), text)
  }

  private def seed(rank: Int, version: Int) = rank * 1000L + version

  private def fill(values: Array[Long], rank: Int, version: Int): Unit = {
    val random = new java.util.SplittableRandom(seed(rank, version))
    for (i <- values.indices) values(i) = random.nextLong()
  }

  /** What a rank is told that keeps more than fits; what it kept before is still there. */
  def keepTooMuch(world: ProcessGroup, elements: Int): String = {
    val small = Array(world.rank + 7)
    val state = java.util.Collections.singletonList(Tensor.of(small: _*))
    world.checkpoint("state", state)
    val large = new Array[Long](elements)
    val text =
      try {
        val tensor = Tensor.wrap(DType.INT64, large)
        for (_ <- 1 to 3) world.checkpoint("large", java.util.Collections.singletonList(tensor))
        "it was kept"
      } catch {
        case e: org.sparkcollectives.CollectiveException => e.getMessage
      }
    small(0) = 0
    require(world.restore("state", state) && small(0) == world.rank + 7, "the version before")
    text
  }

  /** A sum over an object that rank 0 has made. */
  def broadcast(world: ProcessGroup, arrays: Int, length: Int): Long = {
    val random = new Random(7)
    val made =
      if (world.rank != 0) null
      else {
        val list = new java.util.ArrayList[Array[Byte]]()
        for (i <- 0 until arrays) {
          val bytes = new Array[Byte](length)
          for (j <- bytes.indices by 4093) bytes(j) = random.nextInt().toByte
          bytes(length - 1) = i.toByte
          list.add(bytes)
        }
        list
      }
    val seen: java.util.ArrayList[Array[Byte]] = world.objects().broadcast(made, 0)
    var sum = seen.size.toLong
    seen.forEach { bytes =>
      var i = 0
      while (i < bytes.length) {
        sum = sum * 31 + bytes(i)
        i += 1
      }
    }
    sum
  }
}
