package org.sparkcollectives.spark

import java.nio.file.{FileAlreadyExistsException, Files, Path}

import scala.collection.JavaConverters._
import scala.io.Source

import org.apache.spark.{SparkEnv, SparkException, TaskContext}
import org.apache.spark.api.java.{JavaRDD, JavaSparkContext}
import org.apache.spark.rdd.RDD
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.spark.iteration.IterationResult

/** Tests loops that run as one barrier stage, beside the same loops on the driver. */
class IterativeStageSuite extends AnyFunSuite with LocalCluster {

  import IterativeJobs._

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      // A busy machine takes long to replace an executor.
      "spark.collectives.preflight.timeout" -> "2min"
    )

  private def digits(partitions: Int): RDD[Array[Double]] = sc.parallelize(Digits.rows, partitions)

  test("gradient descent on the digits is that of a loop of treeAggregate") {
    val rows = digits(4).cache()
    val expected = treeAggregateDescent(rows, 20)
    val result = descent(rows, 20)
    assert(expected.exists(_ != 0))
    for (i <- expected.indices) {
      val difference = math.abs(result.state()(i) - expected(i))
      assert(difference <= 1e-12 * math.max(1, math.abs(expected(i))))
    }
    assert(result.iterations == 20)
    assert(!result.converged)
    assert(result.losses.length == 20)
    assert(math.abs(result.losses.head / Digits.rows.size - math.log(2)) < 1e-12)
    assert(result.losses.last < 0.9 * result.losses.head)
    rows.unpersist()
    assertNothingIsLeft()
  }

  test("a stage whose executor is killed ends with the bits of one that nobody disturbed") {
    val expected = descent(digits(4), 12).state
    val marks = Seq("resubmitted", "retried").map(Files.createTempDirectory(_).toString)
    val stage = IterativeJobs.stage(digits(4)).withCheckpointInterval(5)
    assertSameBits(killed(stage.withResubmissions(1), 12, marks(0)), expected)
    assertSameBits(killed(stage.withStageRetry(), 12, marks(1)), expected)
    for (folder <- marks)
      assert(first(folder) == 6, "the ranks went on after the iteration that was kept last")
    assertTheNextJobRuns()
    assertNothingIsLeft()
  }

  test("a state may be an object, rows may be loaded into other data, and partitions be empty") {
    val rows = withEmptyPartition(sc.parallelize(Seq(1.0, 2.0, 10.0, 12.0, 99.0, 99.0), 3), 2)
    val result = kMeans(rows, Centers(Seq(0.0, 5.0), 0))
    assert(result.state.at == Seq(1.5, 11.0))
    assert(result.converged)
    assert(result.iterations < 50)
    assert(result.state.iteration == result.iterations)
    assertNothingIsLeft()
  }

  test("contributions that differ in length are refused with the ranks") {
    val error = intercept[SparkException](ofRowCount(sc.parallelize(1 to 5, 4)))
    assert(
      error.getMessage.contains("1 numbers on ranks 0, 1, 2, 2 numbers on rank 3"),
      error.getMessage
    )
    assertNothingIsLeft()
  }

  test("a function that throws ends the job with rank and iteration") {
    val error = intercept[SparkException](failing(stage(digits(3)).withResubmissions(3)))
    assert(
      error.getMessage.contains("Rank 1 failed in iteration 4, in its contribution"),
      error.getMessage
    )
    assert(error.getMessage.contains("no logarithm of a negative number"), error.getMessage)
    assertTheNextJobRuns()
    assertNothingIsLeft()
  }

  test("wrong numbers are refused before anything runs") {
    val refused = stage(digits(2))
    for (wrong <- Seq(0, -1)) {
      intercept[IllegalArgumentException](refused.withCheckpointInterval(wrong))
      intercept[IllegalArgumentException](descent(digits(2), wrong))
    }
    intercept[IllegalArgumentException](refused.withResubmissions(-1))
    intercept[NullPointerException](IterativeStage.of(digits(2), null))
    val empty = intercept[IllegalArgumentException](descent(sc.emptyRDD[Array[Double]], 1))
    assert(empty.getMessage.contains("no partitions"))
  }

  test("more partitions than slots are refused with the arithmetic") {
    val conf = SparkEnv.get.conf
    conf.set("spark.collectives.preflight.timeout", "0s")
    try {
      val shortage = intercept[IllegalStateException](descent(digits(9), 1)).getMessage
      assert(shortage.contains("9 partitions"), shortage)
      assert(shortage.contains("only 4 slots"), shortage)
    } finally conf.set("spark.collectives.preflight.timeout", "2min")
  }

  test("Java's RDDs are taken as Scala's are") {
    val rows = new JavaSparkContext(sc).parallelize(java.util.List.of[Integer](1, 2, 3, 4), 2)
    assert(powers(rows).state sameElements Array(64.0))
  }

  private def assertSameBits(
      result: IterationResult[Array[Double]],
      expected: Array[Double]
  ): Unit = {
    def bits(values: Array[Double]) = values.map(java.lang.Double.doubleToRawLongBits).toSeq
    assert(bits(result.state) == bits(expected))
  }
}

/** The digits of the examples. */
object Digits {

  /** The label first. */
  lazy val rows: Seq[Array[Double]] = {
    val source = Source.fromFile("../../examples/data/digits.csv", "UTF-8")
    try source.getLines().map(parsed).toVector
    finally source.close()
  }

  private def parsed(line: String): Array[Double] = {
    val values = line.split(',').map(_.toDouble)
    (if (values.last >= 5) 1.0 else 0.0) +: values.init.map(_ / 16)
  }
}

/** The loops. Apart from the suite, so that no task carries it along. */
object IterativeJobs {

  type Rows = java.util.List[Array[Double]]
  type Descent = IterativeStage[Array[Double], Array[Double], Rows]

  private val Features = 64

  def stage(rows: RDD[Array[Double]]): Descent =
    IterativeStage.of(rows, new Array[Double](Features))

  def descent(rows: RDD[Array[Double]], iterations: Int): IterationResult[Array[Double]] =
    stage(rows)
      .withLoss((_, sum, _) => sum(Features))
      .run(
        iterations,
        (weights, rows, _) => gradient(weights, rows),
        (weights, sum, _) => step(weights, sum)
      )

  /** Runs the loop as it is without ranks. */
  def treeAggregateDescent(rows: RDD[Array[Double]], iterations: Int): Array[Double] =
    (1 to iterations).foldLeft(new Array[Double](Features)) { (weights, _) =>
      val current = rows.sparkContext.broadcast(weights)
      val sum = rows.treeAggregate(new Array[Double](Features + 1))(
        (sum, row) => {
          addGradient(current.value, row, sum)
          sum
        },
        (sum, other) => sum.indices.map(i => sum(i) + other(i)).toArray
      )
      current.destroy()
      step(weights, sum)
    }

  private def addGradient(weights: Array[Double], row: Array[Double], sum: Array[Double]): Unit = {
    var margin = 0.0
    for (i <- 0 until Features) margin += weights(i) * row(i + 1)
    val error = 1 / (1 + math.exp(-margin)) - row(0)
    for (i <- 0 until Features) sum(i) += error * row(i + 1)
    sum(Features) += math.log1p(math.exp(if (row(0) == 1) -margin else margin))
  }

  /** Returns the gradient and the loss. */
  def gradient(weights: Array[Double], rows: Rows): Array[Double] = {
    val sum = new Array[Double](Features + 1)
    rows.forEach(row => addGradient(weights, row, sum))
    sum
  }

  def step(weights: Array[Double], sum: Array[Double]): Array[Double] =
    weights.indices.map(i => weights(i) - 2e-4 * sum(i)).toArray

  /** Kills the executor of the last rank in iteration 8, once. */
  def killed(stage: Descent, iterations: Int, marks: String): IterationResult[Array[Double]] =
    stage.run(
      iterations,
      (weights, rows, iteration) => {
        if (TaskContext.getPartitionId() == 3) {
          val kill = Path.of(marks, "killed")
          if (iteration == 8 && once(kill)) LostExecutors.killThisOne()
          val first = Path.of(marks, "first")
          if (Files.exists(kill) && once(first)) Files.writeString(first, iteration.toString)
        }
        gradient(weights, rows)
      },
      (weights, sum, _) => step(weights, sum)
    )

  /** Returns the iteration with which the ranks started again. */
  def first(marks: String): Int = Files.readString(Path.of(marks, "first")).toInt

  private def once(file: Path): Boolean =
    try {
      Files.createFile(file)
      true
    } catch { case _: FileAlreadyExistsException => false }

  def failing(stage: Descent): IterationResult[Array[Double]] =
    stage.run(
      9,
      (weights, rows, iteration) => {
        if (iteration == 4 && TaskContext.getPartitionId() == 1)
          throw new ArithmeticException("no logarithm of a negative number")
        gradient(weights, rows)
      },
      (weights, sum, _) => step(weights, sum)
    )

  def ofRowCount(rows: RDD[Int]): IterationResult[Array[Double]] =
    IterativeStage
      .of(rows, Array(0.0))
      .run(3, (_, rows, _) => new Array[Double](rows.size), (state, _, _) => state)

  def withEmptyPartition(rows: RDD[Double], empty: Int): RDD[Double] =
    rows.mapPartitionsWithIndex((index, each) => if (index == empty) Iterator.empty else each)

  def kMeans(rows: RDD[Double], initial: Centers): IterationResult[Centers] =
    IterativeStage
      .of(rows, initial)
      .withLoader(each => each.asScala.toArray)
      .withStopCondition((before, after, _) => before.at == after.at)
      .run(
        50,
        (centers, values, _) => centers.sums(values),
        (centers, sum, iteration) => centers.moved(sum, iteration)
      )

  def powers(rows: JavaRDD[Integer]): IterationResult[Array[Double]] =
    IterativeStage
      .of(rows, Array(1.0))
      .run(3, (state, rows, _) => Array(state(0) * rows.size), (_, sum, _) => sum)
}

/** Two centers of numbers, as k-means moves them. */
case class Centers(at: Seq[Double], iteration: Int) {

  /** Returns sum and count of the numbers that are closest to each center. */
  def sums(values: Array[Double]): Array[Double] = {
    val sums = new Array[Double](2 * at.size)
    for (value <- values) {
      val closest = at.indices.minBy(i => math.abs(value - at(i)))
      sums(2 * closest) += value
      sums(2 * closest + 1) += 1
    }
    sums
  }

  def moved(sums: Array[Double], iteration: Int): Centers =
    Centers(at.indices.map(i => sums(2 * i) / sums(2 * i + 1)), iteration)
}
