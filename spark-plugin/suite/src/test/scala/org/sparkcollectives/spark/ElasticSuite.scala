package org.sparkcollectives.spark

import java.nio.file.{Files, Path}
import java.util.concurrent.locks.LockSupport

import scala.concurrent.Await
import scala.concurrent.duration._
import scala.util.Random

import org.apache.spark.SparkException
import org.scalatest.funsuite.AnyFunSuite

/** Tests replicas that train in the tasks of an ordinary stage while their executors are killed. */
class ElasticSuite extends AnyFunSuite with LocalCluster with ElasticRuns {

  import ElasticTraining._

  override def executors: Int = 3
  override def cores: Int = 1
  override def settings: Map[String, String] = Map(
    "spark.plugins" -> classOf[CollectivesPlugin].getName,
    "spark.task.maxFailures" -> "1000",
    "spark.deploy.maxExecutorRetries" -> "-1",
    "spark.collectives.heartbeat.timeout" -> "10s",
    // Else Spark gives a frozen executor up on a busy machine.
    "spark.network.timeout" -> "1h"
  )

  /** Asserts what [[ElasticRuns.assertTrained]] does, and that nothing is left. */
  private def assertEnded(folder: Path, trained: Trained, attempts: Int*): Unit = {
    assertTrained(folder, trained, attempts: _*)
    assertNothingIsLeft()
  }

  test("survivors go on when executors are killed, and the replacements receive their state") {
    val folder = Files.createTempDirectory("elastic")
    val run = train(sc, folder, stage = _.withMinReplicas(2))
    (0 until 3).foreach(awaitSteps(folder, _, attempt = 0))
    for (victim <- Seq(1, 2)) {
      Signal.send("-9", awaitSteps(folder, victim, attempt = 0).pid)
      awaitSteps(folder, 0, attempt = 0)
      awaitSteps(folder, victim, attempt = 1)
    }
    val trained = finish(folder, run)
    assertEnded(folder, trained, 0, 1, 1)
    val without = trained.history.take(trained.step.toInt).toSet
    assert(without.contains(5L) && without.contains(3L) && without.contains(7L), without)
  }

  test("a frozen executor is left out, and comes back in the same attempt of its task") {
    val folder = Files.createTempDirectory("elastic")
    val run = train(sc, folder)
    (0 until 3).foreach(awaitSteps(folder, _, attempt = 0))
    val frozen = read(folder, 2).get
    Signal.send("-STOP", frozen.pid)
    try {
      awaitSteps(folder, 0, attempt = 0, more = 20)
      awaitSteps(folder, 1, attempt = 0)
    } finally Signal.send("-CONT", frozen.pid)
    awaitSteps(folder, 2, attempt = 0)
    val trained = finish(folder, run)
    assertEnded(folder, trained, 0, 0, 0)
    assert(trained.history.contains(3L), "steps without the frozen one")
  }

  test("when all executors are killed, the next replicas go on from the checkpoint") {
    val folder = Files.createTempDirectory("elastic")
    val run = train(sc, folder, stage = _.withMinReplicas(2).withCheckpointInterval(10))
    val places = (0 until 3).map(awaitSteps(folder, _, attempt = 0, more = 20))
    places.foreach(place => Signal.send("-9", place.pid))
    (0 until 3).foreach(awaitSteps(folder, _, attempt = 1))
    val trained = finish(folder, run)
    assert(trained.beganWith >= 10, "nobody begins at step 0")
    assertEnded(folder, trained, 1, 1, 1)
  }

  test("when all executors are killed without a checkpoint, the run fails and says so") {
    val folder = Files.createTempDirectory("elastic")
    val run = train(sc, folder)
    val places = (0 until 3).map(awaitSteps(folder, _, attempt = 0))
    places.foreach(place => Signal.send("-9", place.pid))
    val error = intercept[SparkException](Await.result(run, 10.minutes)).getMessage
    assert(error.contains("that had its state were lost"), error)
    assert(error.contains("withCheckpointInterval"), error)
    places.foreach(place => awaitReplaced(place.executor))
    assertNothingIsLeft()
  }

  test("executors are killed at any moment, also while others begin, meet and heal") {
    val folder = Files.createTempDirectory("elastic")
    val run = train(sc, folder, stage = _.withCheckpointInterval(10))
    (0 until 3).foreach(awaitSteps(folder, _, attempt = 0, more = 10))
    val random = new Random(7)
    for (_ <- 1 to 12) {
      LockSupport.parkNanos(random.nextInt(2000) * 1000000L)
      random.shuffle(executorPids).take(1 + random.nextInt(2)).foreach(Signal.send("-9", _))
    }
    (0 until 3).foreach(awaitSteps(folder, _))
    val trained = finish(folder, run)
    assert(finalAttempts(folder, trained, 3).sum > 2, "the kills have hit")
    assertNothingIsLeft()
  }

  test("replicas that get a slot when others have finished end at once") {
    val folder = Files.createTempDirectory("elastic")
    val run = train(sc, folder, partitions = 5)
    (0 until 3).foreach(awaitSteps(folder, _, attempt = 0))
    val trained = finish(folder, run)
    assertEnded(folder, trained, 0, 0, 0)
    assert(!Files.exists(folder.resolve("final-4")))
  }

  test("rows that a barrier stage computes are refused") {
    val rows = sc.parallelize(0 until 3, 3).barrier().mapPartitions(each => each)
    val error =
      intercept[IllegalArgumentException](ElasticStage.of(rows).run[String]((_, _) => "none"))
    assert(error.getMessage.contains("come from a barrier stage"), error)
  }

  test("an exception of the function fails the run at once, with its cause") {
    val rows = sc.parallelize(0 until 3, 3)
    val error = intercept[SparkException] {
      ElasticStage
        .of(rows)
        .run[String]((replica, _) => throw new IllegalArgumentException(s"no ${replica.replicaId}"))
    }
    assert(error.getMessage.contains("failed: java.lang.IllegalArgumentException: no "), error)
    assert(error.getCause.isInstanceOf[IllegalArgumentException], error)
    assertNothingIsLeft()
    assertTheNextJobRuns()
  }
}
