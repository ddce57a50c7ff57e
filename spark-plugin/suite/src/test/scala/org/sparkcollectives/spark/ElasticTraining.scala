package org.sparkcollectives.spark

import java.nio.ByteBuffer
import java.nio.file.{Files, Path}
import java.security.MessageDigest
import java.util.concurrent.locks.LockSupport

import org.apache.spark.{BarrierTaskContext, SparkEnv, TaskContext}
import org.sparkcollectives.{ReduceOp, Tensor}
import org.sparkcollectives.spark.elastic.Replica

/** The result of a replica.
  *
  * @param history
  *   of each step, the sum of `1 << replica` over its participants
  * @param beganWith
  *   the step at which the replica began
  */
case class Trained(weights: Array[Double], history: Array[Long], step: Long, beganWith: Long)

/** The process and the step of a rank of a replica.
  *
  * @param attempt
  *   of its task; of a barrier task, its stage
  */
case class ReplicaPlace(pid: String, executor: String, attempt: Int, step: Long)

/** The task of the suite, apart from it so that no task carries it along. */
object ElasticTraining {

  private val Most = 200000
  private val StepNanos = 10000000L

  /** Trains until a file named `finish` is seen, and says after each step where the replica is. */
  def apply(replica: Replica, folder: String): Trained = {
    val ranks = replica.group
    val partition = replica.replicaId * ranks.size + ranks.rank
    val attempt = TaskContext.get() match {
      case rank: BarrierTaskContext => rank.stageId()
      case task                     => task.attemptNumber()
    }
    val executor = SparkEnv.get.executorId
    val pid = ProcessHandle.current().pid()
    val weights = Array.fill(1000)(1.0)
    val history = new Array[Long](Most)
    val finished = Array(0L)
    replica.state("weights", Tensor.of(weights: _*))
    replica.state("history", Tensor.of(history: _*), Tensor.of(finished: _*))
    val state = Trained(weights, history, 0, 0)
    var first = -1L
    while ({
      val step = replica.startQuorum()
      if (first < 0) first = step
      finished(0) == 0
    }) {
      val step = replica.currentStep
      Jobs.write(folder, s"place-$partition", s"$pid $executor $attempt $step")
      val sum = gradient(partition, step, weights.length)
      // All ranks of a replica must see the file in the same step.
      val all = Array(1, if (Files.exists(Path.of(folder, "finish"))) 1 else 0)
      ranks.allReduce(Tensor.of(all: _*), ReduceOp.SUM).await()
      require(all(0) == ranks.size, s"${all(0)} ranks of ${ranks.size}")
      // Else the history would be full before an executor has started.
      LockSupport.parkNanos(StepNanos)
      val participants = Array(1L << replica.replicaId, all(1).toLong)
      replica.allReduce(Tensor.of(sum: _*), ReduceOp.SUM)
      replica.allReduce(Tensor.of(participants: _*), ReduceOp.SUM)
      if (replica.shouldCommit()) {
        descend(weights, sum, replica.numParticipants)
        history(step.toInt) = participants(0)
        finished(0) = participants(1)
      }
    }
    val trained = state.copy(step = replica.currentStep, beganWith = first)
    Jobs.write(folder, s"final-$partition", s"$attempt ${digest(trained)}")
    trained
  }

  /** Whole numbers, so that sums do not depend on the order. */
  private def gradient(partition: Int, step: Long, size: Int): Array[Double] =
    Array.tabulate(size)(i => ((partition * 31L + step * 17 + i) % 97 - 48).toDouble)

  private def descend(weights: Array[Double], sum: Array[Double], participants: Int): Unit =
    for (i <- weights.indices) weights(i) -= 0.01 * (sum(i) / participants)

  /** Computes on one thread what the committed steps give.
    *
    * @param rank
    *   of each replica
    * @param size
    *   how many ranks a replica has
    */
  def replay(history: Array[Long], steps: Long, rank: Int, size: Int): Array[Double] = {
    val weights = Array.fill(1000)(1.0)
    for (step <- 0L until steps) {
      val sum = new Array[Double](weights.length)
      val participants = (0 until 63).filter(each => (history(step.toInt) & 1L << each) != 0)
      for {
        each <- participants
        (value, i) <- gradient(each * size + rank, step, sum.length).zipWithIndex
      } sum(i) += value
      descend(weights, sum, participants.size)
    }
    weights
  }

  def digest(trained: Trained): String = {
    val bytes = ByteBuffer.allocate(8 * (trained.weights.length + trained.history.length))
    trained.weights.foreach(bytes.putDouble)
    trained.history.foreach(bytes.putLong)
    MessageDigest.getInstance("SHA-256").digest(bytes.array).map("%02x".format(_)).mkString
  }

  def read(folder: Path, partition: Int): Option[ReplicaPlace] = {
    val file = folder.resolve(s"place-$partition")
    if (!Files.exists(file)) None
    else
      Files.readString(file).split(" ") match {
        case Array(pid, executor, attempt, step) =>
          Some(ReplicaPlace(pid, executor, attempt.toInt, step.toLong))
      }
  }
}
