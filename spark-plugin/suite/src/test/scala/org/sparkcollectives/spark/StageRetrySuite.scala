package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths}

import org.apache.spark.{BarrierTaskContext, SparkEnv, TaskContext}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{Failure, ProcessGroup, ReduceOp, Tensor}

/** Executors that die in the middle, and stages that Spark retries as a whole. */
class StageRetrySuite extends AnyFunSuite with LocalCluster with HitExecutor {

  override def settings: Map[String, String] =
    Map("spark.plugins" -> classOf[CollectivesPlugin].getName)

  test("when an executor is killed, the ranks on others are told which one was lost") {
    val error =
      whenTheExecutorOfRank3IsHit(Failure.Kind.EXECUTOR_LOST)(_ => LostExecutors.killThisOne())()
    assert(error.contains("ExecutorLostFailure"), error)
    assertTheNextJobRuns()
    assertNothingIsLeft()
  }

  test("a stage that ends in a shuffle is retried as a whole, in a group of its own") {
    val folder = Files.createTempDirectory("retry")
    val path = folder.toString
    // One slot stays for the rank of the first attempt that does not end.
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

  /** As the operating system does when memory is short: no hook runs, nothing is said. */
  def killThisOne(): Unit = {
    Signal.send("-9", ProcessHandle.current().pid().toString)
    Thread.currentThread().join()
  }

  def awaitFile(path: String, name: String): Unit =
    eventually(s"no $name in $path")(Files.exists(Path.of(path, name)))

  /** Rank 2 of the first attempt stays until the second has begun, and then asks again. */
  def lingering(world: ProcessGroup, path: String): Unit =
    if (world.rank == 2) {
      val task = BarrierTaskContext.get()
      Files.writeString(Path.of(path, "lingering"), "")
      awaitFile(path, "name-1-0")
      val stage = new StageAttempt(task.stageId(), 0)
      try DriverStoreClient.connect(SparkEnv.get, stage, "", java.time.Duration.ofSeconds(5))
      catch {
        case e: RuntimeException => Files.writeString(Path.of(path, "late"), e.getMessage)
      }
      throw new IllegalStateException("the first attempt is over")
    } else world.allReduce(Tensor.of(1), ReduceOp.SUM).await()
}
