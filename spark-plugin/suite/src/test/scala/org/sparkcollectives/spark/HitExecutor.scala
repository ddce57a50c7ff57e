package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths}

import org.apache.spark.{SparkEnv, SparkException}
import org.sparkcollectives.Failure

/** Hits one of two executors, and checks what is reported to the ranks on the other. */
trait HitExecutor { self: LocalCluster =>

  /** Runs four ranks, of which rank 3 applies `hit` to its executor, and waits until the executor
    * is replaced.
    *
    * @param fault
    *   the fault that `hit` causes, which decides what the ranks on the other executor may report
    * @param after
    *   runs with the folder once the job has failed
    * @return
    *   the job's error
    */
  def whenTheExecutorOfRank3IsHit(fault: ClusterFault)(
      hit: String => Unit
  )(after: Path => Unit = _ => ()): String = {
    val folder = Files.createTempDirectory("hit")
    val path = folder.toString
    val error =
      try
        intercept[SparkException] {
          Jobs.ranks(sc, 4) { world =>
            Files.writeString(Paths.get(path, s"executor-${world.rank}"), SparkEnv.get.executorId)
            Jobs.keepingFailure(path, world) {
              // Ranks that are still in it when the executor is hit learn of the failure there.
              world.barrier().await()
              if (world.rank == 3) hit(path)
              Jobs.sum(world)
            }
          }
        }
      finally after(folder)
    def executor(rank: Int) = Files.readString(folder.resolve(s"executor-$rank"))
    val survivors = (0 to 2).filter(rank => executor(rank) != executor(3))
    assert(survivors.nonEmpty, "the ranks are on two executors")
    for (rank <- survivors) {
      eventually(s"rank $rank says why it failed")(Files.exists(folder.resolve(rank.toString)))
      val failure = Jobs.read(folder, rank)
      val kind = Failure.Kind.values.find(kind => failure.startsWith(kind.toString))
      assert(kind.exists(fault.mayBeCalled(_)), failure)
      assert(failure.contains(s"executor ${executor(3)}"), failure)
    }
    awaitReplaced(executor(3))
    error.getMessage
  }
}
