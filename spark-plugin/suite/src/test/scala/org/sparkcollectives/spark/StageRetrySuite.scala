package org.sparkcollectives.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import org.apache.spark.{BarrierTaskContext, SparkEnv, SparkException, TaskContext}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{Failure, ProcessGroup, ReduceOp, Tensor}
import org.sparkcollectives.spark.internal.executor.DriverStoreClient
import org.sparkcollectives.spark.internal.protocol.{JoinRequest, StageAttempt}
import org.sparkcollectives.spi.failure.RankIdentity

/** Tests executors that die during a stage, and stages that Spark retries as a whole. */
class StageRetrySuite extends AnyFunSuite with LocalCluster with HitExecutor {

  override def settings: Map[String, String] =
    Map("spark.plugins" -> classOf[CollectivesPlugin].getName)

  test("when an executor is killed, the ranks on others are told which one was lost") {
    val error =
      whenTheExecutorOfRank3IsHit(ClusterFault.EXECUTOR_KILL)(_ => LostExecutors.killThisOne())()
    assert(error.contains("ExecutorLostFailure"), error)
    assertTheNextJobRuns()
    assertNothingIsLeft()
  }

  test("when an executor is killed, ranks without a connection to it hear of it from the driver") {
    val folder = Files.createTempDirectory("apart")
    val path = folder.toString
    intercept[SparkException] {
      Jobs.ranks(sc, 4) { world =>
        Jobs.keepingFailure(path, world)(LostExecutors.apart(world, path))
      }
    }
    val executors = (0 to 3).map(rank => Files.readString(folder.resolve(s"executor-$rank")))
    val survivors = (0 to 2).filter(executors(_) != executors(3))
    assert(survivors.size == 2, executors)
    for (rank <- survivors) {
      eventually(s"rank $rank says why it failed")(Files.exists(folder.resolve(rank.toString)))
      val failure = Jobs.read(folder, rank)
      assert(failure.startsWith(Failure.Kind.EXECUTOR_LOST.toString), failure)
      assert(failure.contains(s"executor ${executors(3)}"), failure)
    }
    awaitReplaced(executors(3))
    assertTheNextJobRuns()
  }

  test("a stage that ends in a shuffle is retried as a whole, in a group of its own") {
    val folder = Files.createTempDirectory("retry")
    val path = folder.toString
    // One slot stays occupied by the rank of the first attempt that does not end.
    val sums = sc
      .parallelize(0 until 3, 3)
      .barrier()
      .mapPartitions { _ =>
        val world = SparkCollectives.world()
        val attempt = TaskContext.get().stageAttemptNumber()
        Files.writeString(Paths.get(path, s"name-$attempt-${world.rank}"), world.name)
        world.store.set(s"from-attempt-$attempt", Array.emptyByteArray)
        world.barrier().await()
        if (attempt == 0) {
          if (world.rank == 1) {
            LostExecutors.awaitFile(path, "lingering")
            throw new IllegalStateException("the first attempt fails")
          }
          LostExecutors.lingering(world, path)
        }
        assert(world.store.listKeys.toArray.toSeq == Seq("from-attempt-1"))
        Iterator(world.rank -> Jobs.sum(world))
      }
      .repartition(2)
      .collect()
    assert(sums.toMap == (0 to 2).map(_ -> 6).toMap)
    val names = for (attempt <- 0 to 1) yield Files.readString(folder.resolve(s"name-$attempt-0"))
    assert(names.distinct.size == 2)
    eventually("the rank of the first attempt was refused")(
      Files.exists(folder.resolve("late"))
    )
    assert(Files.readString(folder.resolve("late")).contains("is over"))
    assertNothingIsLeft()
  }
}

/** Apart from the suite, so that no task carries it along. */
object LostExecutors extends Patience {

  /** Kills this process as the operating system does when memory is short: no hook runs, nothing is
    * sent.
    */
  def killThisOne(): Unit = {
    Signal.send("-9", ProcessHandle.current().pid().toString)
    Thread.currentThread().join()
  }

  /** Kills rank 3 without breaking a connection of another executor's ranks: those wait for each
    * other.
    */
  def apart(world: ProcessGroup, path: String): Unit = {
    val own = SparkEnv.get.executorId
    Files.writeString(Path.of(path, s"executor-${world.rank}"), own)
    world.store.set(s"executor-${world.rank}", own.getBytes(UTF_8))
    val executors =
      (0 until world.size).map(rank => new String(world.store.get(s"executor-$rank"), UTF_8))
    if (world.rank == 3) killThisOne()
    val neighbour = executors.indices.find(rank => rank != world.rank && executors(rank) == own)
    world.recv(Tensor.of(new Array[Int](1): _*), neighbour.get, 0).await()
  }

  def awaitFile(path: String, name: String): Unit =
    eventually(s"no $name in $path")(Files.exists(Path.of(path, name)))

  /** Keeps rank 2 of the first attempt until the second has begun; then it asks again. */
  def lingering(world: ProcessGroup, path: String): Unit =
    if (world.rank == 2) {
      val task = BarrierTaskContext.get()
      Files.writeString(Path.of(path, "lingering"), "")
      awaitFile(path, "name-1-0")
      val stage = new StageAttempt(task.stageId(), 0)
      val ifLost = new RankIdentity("late", 2, "", "", -1).lost()
      val late = new JoinRequest(stage, "", "late", ifLost)
      try DriverStoreClient.connect(SparkEnv.get, late, java.time.Duration.ofSeconds(5))
      catch {
        case e: RuntimeException => Jobs.write(path, "late", e.getMessage)
      }
      throw new IllegalStateException("the first attempt is over")
    } else world.allReduce(Tensor.of(1), ReduceOp.SUM).await()
}
