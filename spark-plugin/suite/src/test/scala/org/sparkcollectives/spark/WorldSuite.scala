package org.sparkcollectives.spark

import java.nio.file.Files
import java.util.Collections

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._

import org.apache.spark.{SPARK_VERSION, SparkEnv, SparkException}
import org.apache.spark.api.java.JavaSparkContext
import org.apache.spark.resource.{ResourceProfileBuilder, TaskResourceRequests}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{ProcessGroup, ReduceOp, Tensor}
import org.sparkcollectives.spark.internal.driver.DriverStores

/** Tests barrier tasks as ranks, on two executors with two tasks each. */
class WorldSuite extends AnyFunSuite with LocalCluster {

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.collectives.preflight.timeout" -> "5s"
    )

  test("driver and executors are the Spark that the build names") {
    val expected = System.getProperty("collectives.spark.version")
    assert(sc.version == expected)
    assert(
      sc.parallelize(0 until 2, 2).map(_ => SPARK_VERSION).distinct().collect().toSeq == Seq(
        expected
      )
    )
  }

  test("all tasks of a barrier stage reduce together, with the partition as rank") {
    assert(Jobs.ranks(sc, 4)(Jobs.sum) == Seq(10, 10, 10, 10))
    val ranks = Jobs.ranks(sc, 3)(world => (world.rank, world.size, world.name))
    assert(ranks.map(_._1) == Seq(0, 1, 2))
    assert(ranks.map(_._2).distinct == Seq(3))
    assert(ranks.map(_._3).distinct.size == 1)
    assert(ranks.head._3.startsWith(sc.applicationId))
  }

  test("a task gets the same world each time it asks") {
    val same = Jobs.ranks(sc, 2)(world => world eq SparkCollectives.world())
    assert(same == Seq(true, true))
  }

  test("the Java way reduces the rows of its partitions, an empty one included") {
    val rows = new JavaSparkContext(sc).parallelize(java.util.List.of[Integer](1, 2, 3), 4)
    val function: RankFunction[Integer, Integer] =
      (world: ProcessGroup, mine: java.util.Iterator[Integer]) => {
        val sum = Array(0)
        mine.forEachRemaining(row => sum(0) += row)
        world.allReduce(Tensor.of(sum: _*), ReduceOp.SUM).await()
        java.util.List.of[Integer](sum(0)).iterator()
      }
    val sums = BarrierStage.of(rows).mapPartitions(function).collect()
    assert(sums == java.util.List.of[Integer](6, 6, 6, 6))
  }

  test("what a rank throws is the cause that the other ranks and the job see") {
    val folder = Files.createTempDirectory("failures")
    val path = folder.toString
    val error = intercept[SparkException] {
      Jobs.ranks(sc, 4) { world =>
        Jobs.keepingFailure(path, world) {
          world.barrier().await()
          if (world.rank == 2) throw new IllegalArgumentException("row 17 is broken")
          Jobs.sum(world)
        }
      }
    }
    assert(error.getMessage.contains("row 17 is broken"))
    for (rank <- Seq(0, 1, 3)) {
      eventually(s"rank $rank says why it failed")(Files.exists(folder.resolve(rank.toString)))
      val failure = Jobs.read(folder, rank)
      assert(failure.startsWith("EXCEPTION"), failure)
      assert(failure.contains("rank 2") && failure.contains("row 17 is broken"), failure)
      assert(failure.contains("WorldSuite"), "the other rank's stack trace: " + failure)
    }
    assert(Jobs.ranks(sc, 4)(Jobs.sum) == Seq(10, 10, 10, 10), "the next job runs")
  }

  test("ranks that wait for a task that has ended are told so") {
    val folder = Files.createTempDirectory("failures")
    val path = folder.toString
    val error = intercept[SparkException] {
      Jobs.ranks(sc, 4) { world =>
        Jobs.keepingFailure(path, world) {
          world.barrier().await()
          if (world.rank == 1) 0 else Jobs.sum(world)
        }
      }
    }
    assert(error.getMessage.contains("rank 1"))
    val told = Seq(0, 2, 3).filter(rank => Files.exists(folder.resolve(rank.toString)))
    assert(told.nonEmpty)
    told.foreach(rank =>
      assert(Jobs.read(folder, rank).startsWith("PEER_FINISHED"), Jobs.read(folder, rank))
    )
  }

  test("a rank that waits wakes when its task is killed") {
    val folder = Files.createTempDirectory("failures")
    val path = folder.toString
    val job = Future {
      sc.setJobGroup("to-cancel", "waits for ever", interruptOnCancel = false)
      Jobs.ranks(sc, 2) { world =>
        Jobs.keepingFailure(path, world) {
          Files.writeString(java.nio.file.Paths.get(path, "started-" + world.rank), "")
          val nothing = Array(0)
          if (world.rank == 0) world.recv(Tensor.of(nothing: _*), 1, 0).await()
          else world.recv(Tensor.of(nothing: _*), 0, 0).await()
        }
      }
    }
    eventually("both ranks wait")(
      (0 to 1).forall(rank => Files.exists(folder.resolve("started-" + rank)))
    )
    sc.cancelJobGroup("to-cancel")
    intercept[SparkException](Await.result(job, 60.seconds))
    for (rank <- 0 to 1) {
      eventually(s"rank $rank woke")(Files.exists(folder.resolve(rank.toString)))
      assert(Jobs.read(folder, rank).contains("killed"), Jobs.read(folder, rank))
    }
    assert(Jobs.ranks(sc, 4)(Jobs.sum) == Seq(10, 10, 10, 10))
  }

  test("outside a barrier task there is no world, and the error says what to do") {
    val onDriver = intercept[IllegalStateException](SparkCollectives.world())
    assert(onDriver.getMessage.contains("inside a task"))
    val inTask = intercept[SparkException] {
      sc.parallelize(0 until 1, 1).map(_ => SparkCollectives.world().rank).collect()
    }
    assert(inTask.getMessage.contains("rdd.barrier().mapPartitions"))
  }

  test("a program can ask whether it is in a barrier task") {
    assert(!SparkCollectives.isInBarrierTask)
    val two = sc.parallelize(0 until 2, 2)
    assert(two.map(_ => SparkCollectives.isInBarrierTask).collect().forall(!_))
    val inBarrier = two.barrier().mapPartitions(_ => Iterator(SparkCollectives.isInBarrierTask))
    assert(inBarrier.collect().forall(identity))
  }

  test("too many partitions are refused with the arithmetic") {
    val rows = new JavaSparkContext(sc).parallelize(java.util.List.of[Integer](1), 5)
    val function: RankFunction[Integer, Integer] = (_, mine) => mine
    val error = intercept[IllegalStateException](BarrierStage.of(rows).mapPartitions(function))
    assert(error.getMessage.contains("5 partitions"))
    assert(error.getMessage.contains("only 4 slots: 2 executors"))
    assert(error.getMessage.contains("Repartition to at most 4"))
  }

  test("an RDD that changes the number of partitions within the stage is refused with advice") {
    val function: RankFunction[Int, Integer] = (world: ProcessGroup, _: java.util.Iterator[Int]) =>
      java.util.List.of[Integer](Jobs.sum(world)).iterator()
    def rows(partitions: Int) = sc.parallelize(0 until 8, partitions)
    val refused = Seq(
      "coalesce" -> rows(4).coalesce(2),
      "coalesce, mapped and cached" -> rows(4).map(_ + 1).coalesce(2).map(_ + 1).cache(),
      "union" -> rows(1).union(rows(1)),
      "cartesian" -> rows(2).cartesian(rows(1)).map(_._1).union(rows(2)),
      "a part" -> rows(4).mapPartitions(identity).coalesce(3)
    )
    for ((name, rdd) <- refused) withClue(name) {
      val partitions = rdd.getNumPartitions
      val error = intercept[IllegalStateException](BarrierStage.of(rdd).collect(function))
      assert(error.getMessage.contains(s"has $partitions partitions, but "))
      assert(error.getMessage.contains("SPARK-24820"))
      assert(error.getMessage.contains(s"repartition($partitions)"))
      // As Spark, which has no advice.
      val raw = intercept[SparkException](rdd.barrier().mapPartitions(identity).collect())
      assert(raw.getMessage.contains("SPARK-24820"))
      val sums = BarrierStage.of(rdd.repartition(partitions)).collect(function)
      assert(sums == Collections.nCopies(partitions, partitions * (partitions + 1) / 2))
    }
    val run = Seq(
      "zip" -> rows(2).zip(rows(2)).map(_._1),
      "coalesced behind a shuffle" -> rows(4).coalesce(2, shuffle = true).map(_ + 1),
      "joined" -> rows(3).map(_ -> 1).groupByKey(2).map(_._1)
    )
    for ((name, rdd) <- run)
      withClue(name)(
        assert(BarrierStage.of(rdd).collect(function) == Collections.nCopies(2, 3))
      )
  }

  test("a barrier stage leaves the caller's job group, description and tags as they are") {
    val function: RankFunction[Int, Integer] = (world: ProcessGroup, _: java.util.Iterator[Int]) =>
      java.util.List.of[Integer](Jobs.sum(world)).iterator()
    sc.setJobGroup("cell", "of a notebook", interruptOnCancel = true)
    sc.addJobTag("mine")
    try {
      val names = Seq("jobGroup.id", "job.description", "job.interruptOnCancel", "job.tags")
      def properties = names.map(name => sc.getLocalProperty(s"spark.$name"))
      val before = properties
      assert(before == Seq("cell", "of a notebook", "true", "mine"))
      for (
        stage <- Seq[BarrierStage[Int] => BarrierStage[Int]](
          identity,
          _.withStageRetry(),
          _.withResubmissions(1)
        )
      ) {
        val jobs = sc.statusTracker.getJobIdsForGroup("cell").toSet
        val sums = stage(BarrierStage.of(sc.parallelize(0 until 2, 2))).collect(function)
        assert(sums == Collections.nCopies(2, 3))
        eventually("the job is in the group")(
          (sc.statusTracker.getJobIdsForGroup("cell").toSet -- jobs).size == 1
        )
        assert(properties == before)
      }
    } finally {
      sc.clearJobGroup()
      sc.removeJobTag("mine")
    }
  }

  test("a resource profile of the RDD counts, whose tasks need more cores") {
    val two = new ResourceProfileBuilder().require(new TaskResourceRequests().cpus(2)).build()
    val function: RankFunction[Int, Integer] = (world: ProcessGroup, _: java.util.Iterator[Int]) =>
      java.util.List.of[Integer](Jobs.sum(world)).iterator()
    def ranks(size: Int) =
      BarrierStage.of(sc.parallelize(0 until size, size).withResources(two).map(_ + 1))
    val error = intercept[IllegalStateException](ranks(3).mapPartitions(function))
    assert(error.getMessage.contains("3 partitions"))
    assert(error.getMessage.contains("only 2 slots: 2 executors"))
    assert(error.getMessage.contains("2 cores for each task (the RDD's resource profile)"))
    assert(error.getMessage.contains("give the application 6 cores"))
    assert(ranks(2).mapPartitions(function).collect() == java.util.List.of[Integer](3, 3))
    // Another stage follows the shuffle, whose tasks need no more than usual.
    val behind = sc.parallelize(0 until 3, 3).withResources(two).repartition(4)
    val sums = BarrierStage.of(behind).mapPartitions(function).collect()
    assert(sums == java.util.List.of[Integer](10, 10, 10, 10))
  }

  test("large values of the driver's store travel as blocks, and go with the stage") {
    val blocks = () => SparkEnv.get.blockManager.getMatchingBlockIds(_.name.contains("collectives"))
    val seen = Jobs.ranks(sc, 3) { world =>
      if (world.rank == 0) world.store.set("large", Array.fill(3 << 20)(7.toByte))
      val value = world.store.get("large")
      world.barrier().await()
      (value.length, value.forall(_ == 7))
    }
    assert(seen == Seq.fill(3)((3 << 20, true)))
    eventually(s"no blocks, but there are ${blocks()}")(blocks().isEmpty)
  }

  test("two runs leave no thread, key or client behind") {
    for (_ <- 1 to 2) assert(Jobs.ranks(sc, 4)(Jobs.sum) == Seq(10, 10, 10, 10))
    val env = SparkEnv.get
    eventually(s"no keys, but there are ${DriverStores.keys(env)}")(DriverStores.keys(env) == 0)
    eventually(s"no clients, but there are ${DriverStores.clientCount(env)}")(
      DriverStores.clientCount(env) == 0
    )
    eventually(s"no threads, but there are ${Jobs.threads(sc)}")(
      Jobs.threads(sc).values.forall(_.isEmpty)
    )
  }
}
