package org.sparkcollectives.spark

import java.nio.file.{Files, Path}

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.api.java.JavaSparkContext
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{CollectiveException, ProcessGroup, Tensor}

/** Tests the state that ranks keep across attempts of their stage, and across jobs that try it
  * again.
  */
class CheckpointSuite extends AnyFunSuite with LocalCluster {

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      // A busy machine takes long to replace an executor.
      "spark.collectives.preflight.timeout" -> "2min"
    )

  private def stage = {
    val rows = java.util.List.of[Integer](0, 1, 2, 3)
    BarrierStage.of(new JavaSparkContext(sc).parallelize(rows, 4))
  }

  test("a stage whose executor is killed goes on with what all ranks kept last") {
    val marks = Files.createTempDirectory("kill").toString
    val steps: RankFunction[Integer, String] = (world, _) => CheckpointJobs.kill(world, marks, 5)
    val rows = stage.withStageRetry().mapPartitions(steps).collect()
    assert(rows.size == 4)
    rows.forEach(row => assert(row.matches("attempt 1 from 3 to 5"), row))
    assertNothingIsLeft()
  }

  test("a job that fails leaves its state to the next one on the same rows, and to no other") {
    val marks = Files.createTempDirectory("resubmit").toString
    val steps: RankFunction[Integer, String] = (world, _) => CheckpointJobs.fail(world, marks, 3)
    val rows = stage.mapPartitions(steps)
    val error = intercept[SparkException](rows.collect())
    assert(error.getMessage.contains("the first job fails"), error.getMessage)
    rows.collect().forEach(row => assert(row == "attempt 0 from 2 to 3"))
    rows.collect().forEach(row => assert(row == "attempt 0 from 0 to 3", "after it succeeded"))
    val others = stage.mapPartitions(steps).collect()
    others.forEach(row => assert(row == "attempt 0 from 0 to 3"))
    assertNothingIsLeft()
  }

  test("a job is submitted again when an executor was lost, and goes on") {
    val marks = Files.createTempDirectory("again").toString
    val steps: RankFunction[Integer, String] = (world, _) => CheckpointJobs.kill(world, marks, 5)
    val rows = stage.withResubmissions(1).collect(steps)
    assert(rows.size == 4)
    rows.forEach(row => assert(row == "attempt 0 from 3 to 5"))
    assertNothingIsLeft()
  }

  test("a job is not submitted again for what a rank throws itself") {
    val marks = Files.createTempDirectory("thrown").toString
    val steps: RankFunction[Integer, String] = (world, _) => CheckpointJobs.fail(world, marks, 3)
    val again = stage.withResubmissions(5)
    val error = intercept[SparkException](again.collect(steps))
    assert(error.getMessage.contains("the first job fails"), error.getMessage)
    // Another call, with its own state. The mark exists, which shows that this call was not the
    // first.
    val others = again.collect(steps)
    assert(others == java.util.Collections.nCopies(4, "attempt 0 from 0 to 3"))
    intercept[IllegalArgumentException](stage.withResubmissions(-1))
    assertNothingIsLeft()
  }

  test("a barrier stage of Scala's keeps its own across attempts") {
    val attempts = sc
      .parallelize(0 until 3, 3)
      .barrier()
      .mapPartitions { _ =>
        val world = SparkCollectives.world()
        val step = Array(0)
        val found = world.restore("step", java.util.Collections.singletonList(Tensor.of(step: _*)))
        val state = Array(world.rank + 10)
        world.checkpoint("state", java.util.Collections.singletonList(Tensor.of(state: _*)))
        if (TaskContext.get().stageAttemptNumber() == 0) {
          world.checkpointReplicated("step", java.util.Collections.singletonList(Tensor.of(7)))
          world.barrier().await()
          throw new IllegalStateException("the first attempt fails")
        }
        Iterator(found)
      }
      .repartition(1)
      .collect()
    assert(attempts.toSeq == Seq(true, true, true))
    assertNothingIsLeft()
  }
}

/** Apart from the suite, so that no task carries it along. */
object CheckpointJobs {

  /** More than the driver keeps in its heap: it is kept as blocks. */
  private val Large = 300000

  private class State(world: ProcessGroup) {
    private val values = Array.fill(Large)(0.0)
    private val done = Array(0)
    private val large = Tensor.wrap(org.sparkcollectives.DType.FLOAT64, values)
    private val small = Tensor.wrap(org.sparkcollectives.DType.INT32, done)

    /** Restores the state, and returns its step; 0 if there is none. */
    def restore(): Int = {
      if (world.restore("state", java.util.Arrays.asList(large, small)))
        values.foreach(value => require(value == done(0) * 10.0 + world.rank, s"$value is torn"))
      done(0)
    }

    def keep(step: Int): Unit = {
      done(0) = step
      java.util.Arrays.fill(values, step * 10.0 + world.rank)
      world.checkpoint("state", java.util.Arrays.asList(large, small))
    }
  }

  /** Kills rank 3 for good while the others are in the checkpoint of step 4. */
  def kill(world: ProcessGroup, marks: String, steps: Int): java.util.Iterator[String] = {
    run(world, steps) { step =>
      if (step == 4 && world.rank == 3 && once(marks)) LostExecutors.killThisOne()
    }
  }

  /** Makes rank 1 of the first job throw when two steps are kept. */
  def fail(world: ProcessGroup, marks: String, steps: Int): java.util.Iterator[String] =
    run(world, steps) { step =>
      if (step == 3 && world.rank == 1 && once(marks))
        throw new IllegalStateException("the first job fails")
    }

  /** Returns the error of a rank that looks for a checkpoint; empty if there may be one. */
  def refusal(world: ProcessGroup): String =
    try {
      world.restore("state", java.util.Collections.emptyList[Tensor]())
      ""
    } catch { case e: CollectiveException => e.getMessage }

  private def once(marks: String): Boolean =
    try {
      Files.createFile(Path.of(marks, "done"))
      true
    } catch { case _: java.nio.file.FileAlreadyExistsException => false }

  private def run(world: ProcessGroup, steps: Int)(
      before: Int => Unit
  ): java.util.Iterator[String] = {
    val state = new State(world)
    val from = state.restore()
    for (step <- from + 1 to steps) {
      before(step)
      state.keep(step)
    }
    val attempt = TaskContext.get().stageAttemptNumber()
    java.util.Collections.singletonList(s"attempt $attempt from $from to $steps").iterator()
  }
}
