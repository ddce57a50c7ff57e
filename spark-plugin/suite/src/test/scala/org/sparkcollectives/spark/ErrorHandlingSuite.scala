package org.sparkcollectives.spark

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path, Paths}
import java.time.Duration
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.{SparkEnv, SparkException}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{
  CollectiveException,
  CollectiveTimeoutException,
  DType,
  ErrorHandling,
  GroupOptions,
  PeerFailedException,
  ProcessGroup,
  ReduceOp,
  Tensor
}
import org.sparkcollectives.spi.tensor.{DirectTensor, LeasedMemory}

/** Tests the effect of each error handling on tasks whose code swallows its exceptions. */
class ErrorHandlingSuite extends AnyFunSuite with LocalCluster {

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.task.reaper.enabled" -> "true",
      "spark.task.reaper.pollingInterval" -> "200ms",
      // Longer than a task that reacts to interrupts needs on a busy machine.
      "spark.task.reaper.killTimeout" -> "6s",
      "spark.task.reaper.threadDump" -> "false"
    )

  private def options(mode: ErrorHandling) = GroupOptions.defaults().withErrorHandling(mode)

  test("with clean up only a job ends as its code has it, though the group has failed") {
    val swallowed = Jobs.ranks(sc, 4, options(ErrorHandling.CLEAN_UP_ONLY)) { world =>
      Swallowing.abortedByRank1(world)
    }
    assert(swallowed.forall(_.contains("the model has diverged")), swallowed)
  }

  test("with tear down a rank that swallows what an operation throws fails when it returns") {
    val error = intercept[SparkException] {
      Jobs.ranks(sc, 4, options(ErrorHandling.TEAR_DOWN))(Swallowing.abortedByRank1)
    }
    assert(error.getMessage.contains("the model has diverged"), error.getMessage)
    assertTheNextJobRuns()
  }

  test("with tear down what a rank throws itself is in the job's error, with its stack trace") {
    val error = intercept[SparkException] {
      Jobs.ranks(sc, 4, options(ErrorHandling.TEAR_DOWN)) { world =>
        world.barrier().await()
        if (world.rank == 2) throw new IllegalArgumentException("row 17 is broken")
        Jobs.sum(world)
      }
    }
    assert(error.getMessage.contains("IllegalArgumentException: row 17 is broken"))
    assert(error.getMessage.contains("\tat org.sparkcollectives.spark.ErrorHandlingSuite"))
  }

  for (mode <- Seq(ErrorHandling.TEAR_DOWN, ErrorHandling.SKIP_CLEAN_UP)) {
    test(s"with $mode ranks that swallow and go on are killed, with the first cause") {
      val error = intercept[SparkException] {
        Jobs.ranks(sc, 4, options(mode)) { world =>
          Swallowing.abortedByRank1(world)
          Swallowing.forEver()
        }
      }
      assert(error.getMessage.contains("the model has diverged"), error.getMessage)
      assert(error.getMessage.contains("rank"), error.getMessage)
      assertTheNextJobRuns()
    }
  }

  test("with tear down a rank stuck in its own code that reacts to interrupts is killed") {
    val folder = Files.createTempDirectory("stuck")
    val path = folder.toString
    val error = intercept[SparkException] {
      Jobs.ranks(sc, 4, options(ErrorHandling.TEAR_DOWN)) { world =>
        if (world.rank == 3) Swallowing.untilInterrupted(path) else Swallowing.late(world)
      }
    }
    assert(error.getMessage.contains("rank 3"), error.getMessage)
    eventually("its thread is interrupted")(Files.exists(folder.resolve("interrupted")))
    assertTheNextJobRuns()
  }

  test("a rank stuck in code that ignores interrupts costs its executor, and the job says which") {
    val folder = Files.createTempDirectory("stuck")
    val path = folder.toString
    val error = intercept[SparkException] {
      Jobs.ranks(sc, 4, options(ErrorHandling.TEAR_DOWN)) { world =>
        if (world.rank == 3) Swallowing.ignoringInterrupts(path) else Swallowing.late(world)
      }
    }
    val executor = Files.readString(folder.resolve("executor"))
    assert(s"rank 3 \\(.*executor $executor\\)".r.findFirstIn(error.getMessage).isDefined, error)
    assert(error.getMessage.contains("all-reduce #1"), error.getMessage)
    awaitReplaced(executor)
    assertTheNextJobRuns()
  }

  for ((what, exchange) <- ClosedMemory.exchanges; uses <- Seq(0, 3))
    test(s"every rank names the rank whose memory is closed after $uses uses in $what") {
      val executors = sc.getExecutorMemoryStatus.keySet
      val named = Jobs.ranks(sc, 4) { world =>
        try {
          exchange(world, ClosedMemory.tensor(world.rank == 1, uses))
          world.barrier().await()
          "nothing was thrown"
        } catch {
          case e: PeerFailedException => s"rank ${e.failure.rank}: ${e.getMessage}"
          case e: CollectiveException => s"rank ${world.rank} itself: ${e.getMessage}"
        }
      }
      assert(named(1).startsWith("rank 1"), named)
      assert(Seq(0, 2, 3).forall(named(_).startsWith("rank 1: ")), named)
      assert(named.forall(_.contains("was closed")), named)
      assertTheNextJobRuns()
      assert(sc.getExecutorMemoryStatus.keySet == executors, "no executor is lost")
    }

  test("with none an overdue operation throws on its own rank, and the others work on") {
    val path = Files.createTempDirectory("none").toString
    val results = Jobs.ranks(sc, 3, options(ErrorHandling.NONE))(Swallowing.aloneLate(path))
    assert(results == Seq("timed out", "7", "7"))
  }
}

/** Exchanges in which a tensor's memory is closed meanwhile. Apart from the suite, so that no task
  * carries it along.
  */
object ClosedMemory {

  /** More than is copied at once. */
  private val Count = 120000

  /** Messages with each other rank, in the same executor and in the other, and a collective. */
  val exchanges: Seq[(String, (ProcessGroup, Tensor) => Unit)] = Seq(
    "a message to it" -> ((world, tensor) => message(world, tensor, 1)),
    "a message from it" -> ((world, tensor) => message(world, tensor, -1)),
    "an all-reduce" -> ((world, tensor) => world.allReduce(tensor, ReduceOp.SUM).await())
  )

  def tensor(closes: Boolean, uses: Int): Tensor =
    if (closes) {
      val bytes = ByteBuffer.allocateDirect(Count * DType.FLOAT32.bytes)
      DirectTensor.within(
        DType.FLOAT32,
        bytes.order(ByteOrder.nativeOrder()),
        new ClosedAfter(uses),
        0,
        Count
      )
    } else Tensor.allocate(DType.FLOAT32, Count)

  /** Exchanges the tensor with each other rank in turn; `direction` 1 receives into it. */
  private def message(world: ProcessGroup, tensor: Tensor, direction: Int): Unit =
    for (step <- 1 until world.size) {
      val to = Math.floorMod(world.rank - direction * step, world.size)
      val from = Math.floorMod(world.rank + direction * step, world.size)
      val other = Tensor.allocate(DType.FLOAT32, Count)
      val (sent, received) = if (direction > 0) (other, tensor) else (tensor, other)
      val sending = world.send(sent, to, step)
      world.recv(received, from, step).await()
      sending.await()
    }

  private class ClosedAfter(uses: Int) extends LeasedMemory(() => ()) {

    private val used = new AtomicInteger

    override def acquire(): Unit = {
      if (used.getAndIncrement() >= uses) close()
      super.acquire()
    }
  }
}

/** Ranks that swallow every exception. Apart from the suite, so that no task carries it along. */
object Swallowing extends Patience {

  private def swallowing(body: => Unit): String =
    try {
      body
      "nothing was thrown"
    } catch { case e: CollectiveException => e.getMessage }

  private def reduce(world: ProcessGroup): Unit =
    world.allReduce(Tensor.of(1), ReduceOp.SUM).await()

  def abortedByRank1(world: ProcessGroup): String = swallowing {
    world.barrier().await() // Fails already where the abort comes before a slow rank returns.
    if (world.rank == 1) world.abort(new IllegalStateException("the model has diverged"))
    reduce(world)
  }

  /** Joins an all-reduce that is soon overdue, and continues as if it were not. */
  def late(world: ProcessGroup): String = {
    world.barrier().await()
    // Long enough for all ranks that come to be in it.
    swallowing(reduce(world.withTimeout(Duration.ofSeconds(3))))
    forEver()
  }

  def forEver(): String = {
    new java.util.concurrent.CountDownLatch(1).await()
    "never"
  }

  def untilInterrupted(path: String): String = {
    SparkCollectives.world().barrier().await()
    try forEver()
    catch {
      case e: InterruptedException =>
        Files.writeString(Paths.get(path, "interrupted"), "")
        throw e
    }
  }

  /** Ignores interrupts, as native code does. */
  def ignoringInterrupts(path: String): String = {
    Files.writeString(Path.of(path, "executor"), SparkEnv.get.executorId)
    SparkCollectives.world().barrier().await()
    while (true) Thread.onSpinWait()
    "never"
  }

  def aloneLate(path: String)(world: ProcessGroup): String = {
    def mark(name: String) = Files.writeString(Paths.get(path, name), "")
    def await(name: String) = eventually(name)(Files.exists(Paths.get(path, name)))
    world.barrier().await()
    if (world.rank == 0)
      try {
        reduce(world.withTimeout(Duration.ofSeconds(1)))
        "not overdue"
      } catch {
        case _: CollectiveTimeoutException =>
          mark("overdue")
          await("1")
          await("2")
          "timed out"
      }
    else {
      await("overdue")
      val value = Array(if (world.rank == 1) 7 else 0)
      if (world.rank == 1) world.send(Tensor.of(value: _*), 2, 0).await()
      else world.recv(Tensor.of(value: _*), 1, 0).await()
      mark(world.rank.toString)
      value(0).toString
    }
  }
}
