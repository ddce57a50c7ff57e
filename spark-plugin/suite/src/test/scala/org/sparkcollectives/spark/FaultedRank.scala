package org.sparkcollectives.spark

import java.nio.file.{Files, Path, StandardCopyOption}
import java.time.Duration
import java.util.{Arrays, Collections}
import java.util.concurrent.locks.LockSupport

import org.apache.spark.{BarrierTaskContext, SparkEnv, TaskKilledException}
import org.sparkcollectives.{CollectiveException, GroupOptions, ProcessGroup, ReduceOp, Tensor}
import org.sparkcollectives.faults.Outcome
import org.sparkcollectives.store.StoreException

/** One task's part in a case: enters the phase, and is hit by the fault or by its consequences. */
class FaultedRank(fault: ClusterFaultCase, folder: Path) {

  import FaultedRank._

  private val task = BarrierTaskContext.get()
  private val rank = task.partitionId()
  private val strikes = rank == fault.victim && fault.fault.isOwn

  private def write(name: String, text: String): Unit = {
    // In one step, because the driver reads the file as soon as it exists.
    val unfinished = Files.writeString(folder.resolve(s"$name.$rank.part"), text)
    Files.move(unfinished, folder.resolve(s"$name-$rank"), StandardCopyOption.ATOMIC_MOVE)
  }

  private def endIfKilled(): Unit =
    if (task.isInterrupted()) throw new TaskKilledException("killed outside of the group")

  /** Tells the driver where this rank runs, and waits until all ranks are here. */
  private def awaitGo(): Unit = {
    write(
      "ready",
      Seq(
        SparkEnv.get.executorId,
        ProcessHandle.current().pid(),
        task.taskAttemptId(),
        task.stageId()
      ).mkString(" ")
    )
    while (!Files.exists(folder.resolve("go"))) {
      endIfKilled()
      LockSupport.parkNanos(1000000)
    }
  }

  def run(): String = {
    val outcome =
      try {
        if (fault.phase == ClusterPhase.RENDEZVOUS) {
          awaitGo()
          if (strikes && !strike()) return "returns"
        }
        inGroup(SparkCollectives.world(GroupOptions.defaults().withTimeout(Patience)))
      } catch {
        case e @ (_: CollectiveException | _: StoreException) =>
          write("outcome", Outcome.of(e).encode())
          throw e
      }
    write("outcome", Outcome.well(outcome).encode())
    outcome
  }

  private def inGroup(world: ProcessGroup): String = {
    if (fault.phase.isWarm) warmUp(world)
    if (fault.phase != ClusterPhase.RENDEZVOUS) {
      awaitGo()
      if (strikes && !strike()) return "returns"
    }
    val timed = if (fault.fault == ClusterFault.SLOW) world.withTimeout(Deadline) else world
    if (fault.phase == ClusterPhase.CLOSE) {
      val last = beginAllReduce(timed)
      world.close()
      if (last.isSuccess) "closed" else throw last.exception
    } else {
      while (true) step(timed)
      "never"
    }
  }

  /** Returns whether the victim continues, too late. */
  private def strike(): Boolean = {
    if (fault.phase.isWarm && fault.phase != ClusterPhase.CLOSE) {
      val world = SparkCollectives.world()
      val end = System.nanoTime() + fault.moment.toNanos
      while (System.nanoTime() < end) step(world)
    } else park(fault.moment)
    write("struck", Outcome.now().toString)
    fault.fault match {
      case ClusterFault.EXCEPTION => throw new IllegalStateException(ClusterFault.EXCEPTION.words)
      case ClusterFault.EARLY_RETURN => false
      case _                         =>
        // However late a busy machine lets the others begin to wait.
        park(LongestWait, hasAnotherEnded)
        true
    }
  }

  /** Returns whether a rank that waited for the victim has given up. */
  private def hasAnotherEnded: Boolean =
    (0 until ClusterFaultCase.SIZE)
      .exists(other => other != rank && Files.exists(folder.resolve(s"outcome-$other")))

  private def park(time: Duration, isOver: => Boolean = false): Unit = {
    val end = System.nanoTime() + time.toNanos
    while (System.nanoTime() < end && !isOver) {
      endIfKilled()
      LockSupport.parkNanos(1000000)
    }
  }

  private def warmUp(world: ProcessGroup): Unit = {
    beginAllReduce(world).await()
    checkpoint(world)
    world.barrier().await()
  }

  private def step(world: ProcessGroup): Unit = fault.phase match {
    case ClusterPhase.BARRIER    => world.barrier().await()
    case ClusterPhase.CHECKPOINT => checkpoint(world)
    case _                       => beginAllReduce(world).await()
  }

  private def checkpoint(world: ProcessGroup): Unit =
    world.checkpoint("own", Collections.singletonList(Tensor.of(new Array[Long](1000): _*)))

  private def beginAllReduce(world: ProcessGroup) = {
    val values = new Array[Float](Large)
    Arrays.fill(values, 1f)
    world.allReduce(Tensor.of(values: _*), ReduceOp.SUM)
  }
}

object FaultedRank {

  private val Large = 1 << 20

  /** The deadline of operations in which a rank is slow; no other rank is, even on a busy machine.
    */
  private val Deadline = Duration.ofSeconds(3)

  /** The time that ranks wait for each other, including those of a new executor, which first loads
    * all classes.
    */
  val Rendezvous: Duration = Duration.ofSeconds(10)

  /** The time after which a slow rank goes on, though no other has given up: the case then fails.
    */
  private val LongestWait = Duration.ofSeconds(45)

  /** The deadline of all other operations, for which nothing here should have to wait. */
  private val Patience = Duration.ofSeconds(45)
}
