package org.sparkcollectives.spark

import java.nio.file.{Files, Path}
import java.util.concurrent.locks.LockSupport

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.util.TaskFailureListener
import org.sparkcollectives.faults.Outcome

/** What the tasks of a barrier stage do of which one never joins. Apart from the suites, so that no
  * task carries one along.
  */
object AbsentRank extends Patience {

  val Size = 4

  /** The rank that never joins. */
  val Absent = 1

  val Returns = "returns"
  val Throws = "throws"
  val IsKilled = "is killed"

  /** What the absent rank throws. */
  val Thrown = "row 17 is broken"

  /** Comes before the world: the absent rank ends here, once the others are about to join. The
    * others leave what their task fails with in a file.
    *
    * @return
    *   whether this rank goes on
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
    // What they do next is the rendezvous; to end before it is as good.
    LockSupport.parkNanos(100000000L)
    Jobs.write(path, "ended", Outcome.now().toString)
    end match {
      case Returns  => ()
      case Throws   => throw new IllegalArgumentException(Thrown)
      case IsKilled => LostExecutors.killThisOne()
    }
    false
  }

  /** As a rank of `rdd.barrier()`. */
  def inBarrier(path: String, end: String): Int =
    if (goesOn(path, end)) SparkCollectives.world().size else 0
}
