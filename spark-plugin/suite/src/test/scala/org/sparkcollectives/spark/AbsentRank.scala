package org.sparkcollectives.spark

import java.nio.file.{Files, Path}
import java.util.concurrent.locks.LockSupport

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.util.TaskFailureListener
import org.sparkcollectives.faults.Outcome

/** Tasks of a barrier stage of which one never joins. Apart from the suites, so that no task
  * carries one along.
  */
object AbsentRank extends Patience {

  val Size = 4

  /** The rank that never joins. */
  val Absent = 1

  val Returns = "returns"
  val Throws = "throws"
  val IsKilled = "is killed"

  /** The message that the absent rank throws. */
  val Thrown = "row 17 is broken"

  /** Runs before the world is created. The absent rank ends here, once the others are about to
    * join; the others write the failure of their task into a file.
    *
    * @return
    *   whether this rank continues
    */
  def goesOn(path: String, end: String): Boolean = {
    val task = TaskContext.get()
    val rank = task.partitionId()
    Jobs.write(path, s"executor-$rank", SparkEnv.get.executorId)
    if (rank != Absent) {
      val onFailure: TaskFailureListener =
        (_, cause) => Jobs.write(path, s"outcome-$rank", Outcome.of(cause).encode())
      task.addTaskFailureListener(onFailure)
      Jobs.write(path, s"joins-$rank", "")
      return true
    }
    eventually("the others join") {
      (0 until Size).forall(other =>
        other == Absent || Files.exists(Path.of(path, s"joins-$other"))
      )
    }
    // The rendezvous is next for the others; if this rank ends before it, that serves as well.
    LockSupport.parkNanos(100000000L)
    Jobs.write(path, "ended", Outcome.now().toString)
    end match {
      case Returns  => ()
      case Throws   => throw new IllegalArgumentException(Thrown)
      case IsKilled => LostExecutors.killThisOne()
    }
    false
  }

  /** Runs as a rank of `rdd.barrier()`. */
  def inBarrier(path: String, end: String): Int =
    if (goesOn(path, end)) SparkCollectives.world().size else 0
}
