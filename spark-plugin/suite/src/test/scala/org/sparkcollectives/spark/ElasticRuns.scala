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
      partitions: Int = 3,
      stage: ElasticStage[Int] => ElasticStage[Int] = identity
  ): Future[Trained] = {
    val path = folder.toString
    val rows = sc.parallelize(0 until partitions, partitions)
    Future(
      stage(ElasticStage.of(rows)).run[Trained]((replica, _) => ElasticTraining(replica, path))
    )
  }

  /** Waits until the replica of a partition has made more steps in an attempt of its task. */
  def awaitSteps(folder: Path, partition: Int, attempt: Int, more: Long = 5): ReplicaPlace =
    awaitSteps(folder, partition, more, _ == attempt)

  /** Waits until the replica of a partition has made more steps, in whatever attempt. */
  def awaitSteps(folder: Path, partition: Int): ReplicaPlace = awaitMore(folder, partition, 5)

  /** Waits until the replica of a partition has made that many more steps. */
  def awaitMore(folder: Path, partition: Int, steps: Long): ReplicaPlace =
    awaitSteps(folder, partition, steps, _ => true)

  /** Waits until the replica of a partition has made steps in an attempt after one. */
  def awaitStepsAfter(folder: Path, partition: Int, attempt: Int): ReplicaPlace =
    awaitSteps(folder, partition, 5, _ > attempt)

  private def awaitSteps(
      folder: Path,
      partition: Int,
      more: Long,
      isAwaited: Int => Boolean
  ): ReplicaPlace = {
    def place = read(folder, partition).filter(found => isAwaited(found.attempt))
    eventually(s"partition $partition trains: ${read(folder, partition)}")(place.nonEmpty)
    val step = place.get.step
    eventually(s"partition $partition goes on from step $step")(place.exists(_.step >= step + more))
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
    *
    * @param size
    *   how many ranks a replica has
    */
  def finalAttempts(folder: Path, trained: Trained, partitions: Int, size: Int = 1): Seq[Int] = {
    val ranks = (0 until size).map(replay(trained.history, trained.step, _, size))
    assert(trained.weights.toSeq == ranks.head.toSeq)
    (0 until partitions).map { each =>
      eventually(s"partition $each has ended")(Files.exists(folder.resolve(s"final-$each")))
      val Array(attempt, state) = Files.readString(folder.resolve(s"final-$each")).split(" ")
      val expected = digest(trained.copy(weights = ranks(each % size)))
      assert(state == expected, s"the state of partition $each")
      attempt.toInt
    }
  }
}
