package org.sparkcollectives.spark

import org.apache.spark.{SparkConf, SparkContext, SparkEnv}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.ProcessGroup

/** Tests a standalone master and two workers, as an administrator starts them. */
class StandaloneMasterSuite extends AnyFunSuite with Patience {

  test("a barrier stage spans the workers, and the cluster leaves nothing behind") {
    val cluster = StandaloneCluster.start(workers = 2, cores = 2)
    try {
      val sc = new SparkContext(conf(cluster))
      try {
        eventually("both executors are there")(sc.getExecutorMemoryStatus.size == 3)
        val places = Jobs.ranks(sc, 4)(world => Place.of(world))
        places.foreach(println)
        assert(places.map(_.rank) == Seq(0, 1, 2, 3))
        assert(places.map(_.sum).distinct == Seq(10))
        assert(places.map(_.worker).toSet == cluster.workers, "every worker has ranks")
        assert(places.map(_.process).distinct.size == 2, "an executor for each worker")
        assert(
          places.map(_.process).toSet.subsetOf(cluster.executors.map(_.pid).toSet),
          "the ranks' processes are the workers' children"
        )
      } finally sc.stop()
      eventually(s"no executors, but there are ${cluster.executors}")(cluster.executors.isEmpty)
    } finally cluster.close()
    assert(!cluster.isRunning)
    assert(!cluster.hasFiles)
  }

  private def conf(cluster: StandaloneCluster): SparkConf =
    new SparkConf()
      .setMaster(cluster.url)
      .setAppName(getClass.getSimpleName)
      .set("spark.ui.enabled", "false")
      .set("spark.executor.memory", "512m")
      .set("spark.executor.extraJavaOptions", System.getProperty("collectives.jvm.options"))
      .set("spark.jars", LocalCluster.jars.mkString(","))
      .set("spark.plugins", classOf[CollectivesPlugin].getName)
}

/** The place where a rank ran, and its result. */
case class Place(rank: Int, executor: String, process: Long, worker: Long, sum: Int) {
  override def toString: String =
    s"rank $rank ran in executor $executor, process $process of worker $worker, and saw $sum"
}

object Place {

  def of(world: ProcessGroup): Place = {
    val process = ProcessHandle.current()
    val worker = process.parent().get.pid
    Place(world.rank, SparkEnv.get.executorId, process.pid, worker, Jobs.sum(world))
  }
}
