package org.sparkcollectives.spark

import java.nio.file.{FileAlreadyExistsException, Files, Path}
import java.util.concurrent.locks.LockSupport

import scala.collection.JavaConverters._

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.rdd.RDD
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.Tensor
import org.sparkcollectives.spark.elastic.{LostRows, Replica, ReplicaRows}
import org.sparkcollectives.spark.iteration.IterationResult

/** Tests that no row is lost when executors are killed. */
class TakeOverSuite extends AnyFunSuite with LocalCluster with ElasticRuns {

  override def executors: Int = 3
  override def cores: Int = 1
  override def settings: Map[String, String] = Map(
    "spark.plugins" -> classOf[CollectivesPlugin].getName,
    "spark.task.maxFailures" -> "1000",
    "spark.deploy.maxExecutorRetries" -> "-1"
  )

  test("logistic regression of the digits has the same bits with three kills as with none") {
    val rows = sc.parallelize(Digits.rows, 3).cache()
    val marks = Files.createTempDirectory("elastic")
    val result = TakeOver.descent(rows, marks.toString)
    assert(marks.toFile.list.toSet == Set("begun", "killed-1", "killed-2", "killed-again"))
    val undisturbed = IterativeJobs.descent(rows, result.iterations)
    assert(bits(result.state) == bits(undisturbed.state))
    assert(bits(result.losses) == bits(undisturbed.losses))
    rows.unpersist()
    assertNothingIsLeft()
  }

  test("replicas without a slot are taken over by the others, from the first step on") {
    val rows = sc.parallelize(1 to 1000, 7)
    val sums = ElasticStage
      .of(rows)
      .withLostRows(LostRows.TAKE_OVER)
      .run[Array[Double]]((replica, own) => TakeOver.sum(replica, own, 20))
    assert(sums.toSeq == Seq(20 * 500500.0, 20 * 7))
    assertNothingIsLeft()
  }

  test("where rows are waited for, each step has all replicas") {
    val folder = Files.createTempDirectory("elastic")
    val run = train(sc, folder, stage = _.withLostRows(LostRows.WAIT))
    Signal.send("-9", awaitSteps(folder, 1, attempt = 0).pid)
    awaitSteps(folder, 1, attempt = 1)
    val trained = finish(folder, run)
    assertTrained(folder, trained, 0, 1, 0)
    assert(trained.history.take(trained.step.toInt).toSet == Set(7L))
    assertNothingIsLeft()
  }

  test("a state of any type goes on when the executor of a replica is killed") {
    val rows = sc.parallelize(Seq(1.0, 2.0, 10.0, 12.0, 99.0, 99.0), 3)
    val marks = Files.createTempDirectory("elastic").toString
    val result = TakeOver.growing(IterativeJobs.withEmptyPartition(rows, 2), marks)
    assert(Files.exists(Path.of(marks, "killed")))
    assert(result.state == (0 to result.iterations).map(25.0 * _))
    assert(result.converged)
    assertNothingIsLeft()
  }

  test("what a function of an elastic loop throws names the rank and the iteration") {
    val error = intercept[SparkException](TakeOver.failing(sc.parallelize(1 to 3, 3)))
    assert(
      "Rank [012] failed in iteration 4, in its contribution".r
        .findFirstIn(error.getMessage)
        .nonEmpty,
      error
    )
    assertNothingIsLeft()
  }

  test("what is for barrier stages is refused") {
    val stage = IterativeJobs.stage(sc.parallelize(Digits.rows, 3)).withElasticity()
    for (wrong <- Seq(() => stage.withStageRetry(), () => stage.withResubmissions(1)))
      assert(intercept[IllegalStateException](wrong()).getMessage.contains("withElasticity()"))
  }

  private def bits(values: Array[Double]) =
    values.toSeq.map(java.lang.Double.doubleToRawLongBits)
}

/** The functions of the suite, apart from it so that no task carries it along. */
object TakeOver {

  private def once(folder: String, name: String): Boolean =
    try {
      Files.createFile(Path.of(folder, name))
      true
    } catch { case _: FileAlreadyExistsException => false }

  private def exists(folder: String, name: String): Boolean = Files.exists(Path.of(folder, name))

  /** Returns whether this replica may die: the first one is there, and goes on. */
  private def mayDie(marks: String): Boolean =
    if (TaskContext.getPartitionId() == 0) {
      once(marks, "begun")
      // Else the loop would have many iterations before an executor has started.
      LockSupport.parkNanos(20000000)
      false
    } else exists(marks, "begun")

  /** Goes on until two replicas were killed, and one of their replacements. */
  def descent(rows: RDD[Array[Double]], marks: String): IterationResult[Array[Double]] =
    IterativeJobs
      .stage(rows)
      .withElasticity()
      .withLoss((_, sum, _) => sum.last)
      .withStopCondition((_, _, _) => exists(marks, "killed-again"))
      .run(
        100000,
        (weights, rows, iteration) => {
          val replica = TaskContext.getPartitionId()
          if (
            mayDie(marks) && (
              if (TaskContext.get().attemptNumber() > 0) once(marks, "killed-again")
              else if (replica == 1) iteration >= 8 && once(marks, "killed-1")
              else exists(marks, "killed-1") && once(marks, "killed-2")
            )
          ) LostExecutors.killThisOne()
          IterativeJobs.gradient(weights, rows)
        },
        (weights, sum, _) => {
          val next = IterativeJobs.step(weights, sum)
          // A lost iteration must not see this.
          Array.copy(next, 0, weights, 0, next.length)
          weights
        }
      )

  /** Adds up rows and partitions in each step. */
  def sum(replica: Replica, rows: ReplicaRows[Int], steps: Int): Array[Double] = {
    val sums = new Array[Double](2)
    replica.state("sums", Tensor.of(sums: _*))
    while (replica.startQuorum() < steps) {
      val own = replica.partitions().asScala.map { each =>
        Array(rows.ofPartition(each).asScala.map(_.toDouble).sum, 1.0)
      }
      val sum = replica.sumOverPartitions(own.asJava)
      if (replica.shouldCommit()) for (i <- sums.indices) sums(i) += sum(i)
    }
    sums
  }

  /** Appends to a list until a replica was killed. */
  def growing(rows: RDD[Double], marks: String): IterationResult[Seq[Double]] =
    IterativeStage
      .of(rows, Seq(0.0))
      .withElasticity()
      .withStopCondition((_, _, _) => exists(marks, "killed"))
      .run(
        100000,
        (_, rows, iteration) => {
          if (mayDie(marks) && once(marks, "killed")) LostExecutors.killThisOne()
          Array(rows.asScala.sum)
        },
        (state, sum, _) => state :+ (state.last + sum(0))
      )

  def failing(rows: RDD[Int]): IterationResult[Array[Double]] =
    IterativeStage
      .of(rows, Array(0.0))
      .withElasticity()
      .run(
        9,
        (state, _, iteration) =>
          if (iteration == 4) throw new ArithmeticException("no logarithm of a negative number")
          else state,
        (_, sum, _) => sum
      )
}
