package org.sparkcollectives.spark

import java.nio.file.{Files, Path}

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._

import org.apache.spark.SparkContext
import org.scalatest.Assertions

/** Runs [[ElasticTraining]] in an elastic stage, and follows its replicas by what they write. */
trait ElasticRuns extends Patience with Assertions {

  import ElasticTraining._

  def train(
      sc: SparkContext,
      folder: Path,
      replicas: Int = 3,
      stage: ElasticStage[Int] => ElasticStage[Int] = identity
  ): Future[Trained] = {
    val path = folder.toString
    val rows = sc.parallelize(0 until replicas, replicas)
    Future(
      stage(ElasticStage.of(rows)).run[Trained]((replica, _) => ElasticTraining(replica, path))
    )
  }

  /** Waits until a replica has made more steps in an attempt of its task. */
  def awaitSteps(folder: Path, replica: Int, attempt: Int, more: Long = 5): ReplicaPlace =
    awaitSteps(folder, replica, more, _ == attempt)

  /** Waits until a replica has made more steps, in whatever attempt. */
  def awaitSteps(folder: Path, replica: Int): ReplicaPlace =
    awaitSteps(folder, replica, 5, _ => true)

  private def awaitSteps(
      folder: Path,
      replica: Int,
      more: Long,
      isAwaited: Int => Boolean
  ): ReplicaPlace = {
    def place = read(folder, replica).filter(found => isAwaited(found.attempt))
    eventually(s"replica $replica trains: ${read(folder, replica)}")(place.nonEmpty)
    val step = place.get.step
    eventually(s"replica $replica goes on from step $step")(place.exists(_.step >= step + more))
    place.get
  }

  def finish(folder: Path, run: Future[Trained]): Trained = {
    Files.writeString(folder.resolve("finish"), "")
    Await.result(run, 10.minutes)
  }

  /** Asserts that all replicas have the state that the committed steps give on one thread, and
    * which attempt of each one's task has finished.
    */
  def assertTrained(folder: Path, trained: Trained, attempts: Int*): Unit =
    assert(finalAttempts(folder, trained, attempts.size) == attempts)

  /** Asserts that replicas have the state that the committed steps give on one thread, and returns
    * the attempts of their tasks that have finished.
    */
  def finalAttempts(folder: Path, trained: Trained, replicas: Int): Seq[Int] = {
    assert(trained.weights.toSeq == replay(trained.history, trained.step).toSeq)
    (0 until replicas).map { replica =>
      eventually(s"replica $replica has ended")(Files.exists(folder.resolve(s"final-$replica")))
      val Array(attempt, state) = Files.readString(folder.resolve(s"final-$replica")).split(" ")
      assert(state == digest(trained), s"the state of replica $replica")
      attempt.toInt
    }
  }
}
