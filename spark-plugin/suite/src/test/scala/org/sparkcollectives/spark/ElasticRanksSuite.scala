package org.sparkcollectives.spark

import java.nio.file.{Files, Path}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.locks.LockSupport

import scala.concurrent.Future
import scala.util.Random

import org.apache.spark.SparkException
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{ReduceOp, Tensor}
import org.sparkcollectives.spark.elastic.Replica

/** Tests replicas of two ranks, each a barrier job of its own, while their executors are killed. */
class ElasticRanksSuite extends AnyFunSuite with LocalCluster with ElasticRuns {

  import ElasticTraining._

  /** One more than two replicas need. */
  override def executors: Int = 5
  override def cores: Int = 1
  override def settings: Map[String, String] = Map(
    "spark.plugins" -> classOf[CollectivesPlugin].getName,
    "spark.deploy.maxExecutorRetries" -> "-1",
    "spark.collectives.heartbeat.timeout" -> "120s"
  )

  private def trainRanks(
      folder: Path,
      partitions: Int = 4,
      stage: ElasticStage[Int] => ElasticStage[Int] = identity
  ): Future[Trained] =
    train(sc, folder, partitions, stage = each => stage(each.withReplicaSize(2)))

  test("a lost rank ends its replica alone, which begins again with the state of the other") {
    val folder = Files.createTempDirectory("elastic")
    val run = trainRanks(folder)
    val before = (0 until 4).map(awaitSteps(folder, _))
    assert(before.map(_.attempt).distinct.size == 2, "each replica is a stage")
    Signal.send("-9", before(3).pid)
    awaitSteps(folder, 0, before(0).attempt)
    val after = (2 until 4).map(awaitStepsAfter(folder, _, before(3).attempt).attempt)
    val trained = finish(folder, run)
    val expected = Seq(before(0).attempt, before(1).attempt) ++ after
    assert(finalAttempts(folder, trained, 4, size = 2) == expected)
    val participants = trained.history.take(trained.step.toInt).toSet
    assert(participants.contains(1L) && participants.contains(3L), participants)
    assertNothingIsLeft()
  }

  test("when all replicas lose a rank, the next go on from the checkpoint of all ranks") {
    val folder = Files.createTempDirectory("elastic")
    val run = trainRanks(folder, stage = _.withMinReplicas(2).withCheckpointInterval(10))
    val before = (0 until 4).map(awaitMore(folder, _, 20))
    Seq(0, 3).foreach(each => Signal.send("-9", before(each).pid))
    before.indices.foreach(each => awaitStepsAfter(folder, each, before(each).attempt))
    val trained = finish(folder, run)
    assert(trained.beganWith >= 10, "nobody begins at step 0")
    finalAttempts(folder, trained, 4, size = 2)
    assertNothingIsLeft()
  }

  /** In the profile `faults` only: it takes minutes. `-Dfaults.seed` repeats a run. */
  test("executors are killed at any moment, also while ranks begin, meet and heal") {
    val kills = Integer.getInteger("collectives.faults.count", 0) / 20
    assume(kills > 1)
    val folder = Files.createTempDirectory("elastic")
    val run = trainRanks(folder, stage = _.withCheckpointInterval(10))
    (0 until 4).foreach(awaitMore(folder, _, 10))
    val seed = java.lang.Long.getLong("faults.seed", System.nanoTime() >>> 20).toLong
    println(s"$kills kills of seed $seed")
    val random = new Random(seed)
    for (_ <- 1 to kills) {
      LockSupport.parkNanos(random.nextInt(16000) * 1000000L)
      random.shuffle(executorPids).take(1).foreach(Signal.send("-9", _))
    }
    (0 until 4).foreach(awaitSteps(folder, _))
    finalAttempts(folder, finish(folder, run), 4, size = 2)
    assertNothingIsLeft()
  }

  test("a replica that waits for slots when another has finished is not needed") {
    val folder = Files.createTempDirectory("elastic")
    val run = trainRanks(folder, partitions = 6)
    eventually("two replicas train")(
      (0 until 6).count(each => read(folder, each).exists(_.step > 5)) == 4
    )
    finish(folder, run)
    assert((0 until 6).count(each => Files.exists(folder.resolve(s"final-$each"))) == 4)
    assertNothingIsLeft()
    assertTheNextJobRuns()
  }

  test("an exception in one rank fails the run at once, with its cause") {
    val rows = sc.parallelize(0 until 4, 4)
    val error = intercept[SparkException] {
      ElasticStage
        .of(rows)
        .withReplicaSize(2)
        .run[String] { (replica, _) =>
          if (replica.replicaId == 1 && replica.group.rank == 1)
            throw new IllegalArgumentException("no rank 1")
          replica.group.barrier().await()
          replica.state("none", Tensor.of(0))
          while (replica.startQuorum() >= 0) replica.shouldCommit()
          "none"
        }
    }
    assert(error.getCause.isInstanceOf[IllegalArgumentException], error)
    assertNothingIsLeft()
    assertTheNextJobRuns()
  }

  test("an interrupt of the caller cancels all jobs") {
    val folder = Files.createTempDirectory("elastic")
    val thrown = new AtomicReference[Throwable]
    val ended = new CountDownLatch(1)
    val caller = new Thread(() => {
      try
        ElasticStage
          .of(sc.parallelize(0 until 4, 4))
          .withReplicaSize(2)
          .run[Trained](ElasticRanksSuite.training(folder.toString))
      catch { case e: Throwable => thrown.set(e) }
      ended.countDown()
    })
    caller.start()
    awaitSteps(folder, 0)
    caller.interrupt()
    ended.await()
    assert(thrown.get.isInstanceOf[InterruptedException], thrown.get)
    eventually("no job is left")(sc.statusTracker.getActiveJobIds().isEmpty)
    assertNothingIsLeft()
  }

  test("ranks get the partitions of their replica, behind a shuffle and of coalesced ones") {
    val rows = sc.parallelize(1 to 8, 8)
    for (four <- Seq(rows.coalesce(4), rows.repartition(4), rows.coalesce(4).cache())) {
      val stage = ElasticStage.of(four).withReplicaSize(2).withMinReplicas(2)
      assert(stage.run[Long](ElasticRanksSuite.sum) == 36L, four)
    }
  }

  test("partitions that make no replicas of that size are refused") {
    val five = ElasticStage.of(sc.parallelize(0 until 5, 5))
    assert(
      intercept[IllegalArgumentException](five.withReplicaSize(2)).getMessage
        .contains("5 partitions do not make replicas of 2")
    )
    val error = intercept[IllegalArgumentException](five.withMinReplicas(2).withReplicaSize(5))
    assert(error.getMessage.contains("5 partitions make 1 replicas of 5 ranks"), error)
    intercept[IllegalArgumentException](five.withReplicaSize(0))
    intercept[IllegalArgumentException](five.withReplicaSize(5).withMinReplicas(2))
  }
}

/** The tasks of the suite, apart from it so that no task carries it along. */
object ElasticRanksSuite {

  def training(folder: String): elastic.ReplicaFunction[Int, Trained] =
    (replica, _) => ElasticTraining(replica, folder)

  /** Returns the sum of all rows of all replicas. */
  val sum: elastic.ReplicaFunction[Int, Long] = (replica: Replica, rows) => {
    var own = 0L
    rows.forEachRemaining(row => own += row)
    val total = Array(0L)
    replica.state("total", Tensor.of(total: _*))
    while (replica.startQuorum() < 1) {
      val step = Array(own)
      replica.group.allReduce(Tensor.of(step: _*), ReduceOp.SUM).await()
      replica.allReduce(Tensor.of(step: _*), ReduceOp.SUM)
      if (replica.shouldCommit()) total(0) = step(0)
    }
    total(0)
  }
}
