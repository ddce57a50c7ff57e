package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths}

import org.apache.spark.{SparkEnv, SparkException}
import org.sparkcollectives.Failure

/** What happens to one of two executors, and what the ranks on the other are told. */
trait HitExecutor { self: LocalCluster =>

  /** Runs four ranks, of which rank 3 does to its executor what `hit` does in a folder, and waits
    * until there is another one.
    *
    * @param fault
    *   what that is, which tells what the ranks on the other executor may say of it
    * @param after
    *   is done with the folder once the job has failed
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
              // Those that are still in it when the executor is hit are told there.
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
