package org.sparkcollectives.spark

import java.nio.file.Files
import java.util.{Arrays, Iterator => JavaIterator, List => JavaList}

import org.apache.spark.{SparkConf, SparkContext}
import org.apache.spark.api.java.JavaSparkContext
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.ProcessGroup

/** Tests what barrier stages say to dynamic allocation, for which no executor has to start, and
  * that elastic stages train with it.
  */
class DynamicAllocationSuite extends AnyFunSuite with ElasticRuns {

  private def withContext[T](master: String, settings: (String, String)*)(
      work: SparkContext => T
  ): T = {
    val conf = new SparkConf()
      .setMaster(master)
      .setAppName(getClass.getSimpleName)
      .set("spark.ui.enabled", "false")
      .set("spark.dynamicAllocation.enabled", "true")
      .set("spark.dynamicAllocation.shuffleTracking.enabled", "true")
      .setAll(settings)
    val sc = new SparkContext(conf)
    try work(sc)
    finally sc.stop()
  }

  private def ranks(sc: SparkContext, count: Int): JavaList[Integer] = {
    val rows = new JavaSparkContext(sc).parallelize(Arrays.asList[Integer](1, 2, 3, 4, 5), count)
    val size: RankFunction[Integer, Integer] =
      (world: ProcessGroup, _: JavaIterator[Integer]) => Arrays.asList[Integer](world.size).iterator
    BarrierStage.of(rows).mapPartitions(size).collect()
  }

  test("the error has the settings to give, and Spark itself refuses the stage, too") {
    withContext("local-cluster[1,2,1024]", "spark.executor.cores" -> "2") { sc =>
      val error = intercept[IllegalStateException](ranks(sc, 5)).getMessage
      val settings =
        "--conf spark.dynamicAllocation.enabled=false --conf spark.cores.max=6 " +
          "(an executor of 2 cores runs 2 ranks)"
      assert(error.endsWith(settings), error)
      val refusal = intercept[Exception] {
        sc.parallelize(0 until 5, 5).barrier().mapPartitions(rows => rows).collect()
      }
      assert(refusal.getMessage.contains("SPARK-24942"), refusal)
      val elastic = intercept[IllegalStateException] {
        ElasticStage.of(sc.parallelize(0 until 4, 4)).withReplicaSize(2).run[Int]((_, _) => 1)
      }
      assert(elastic.getMessage.contains("SPARK-24942"), elastic)
      assert(elastic.getMessage.contains("spark.dynamicAllocation.enabled=false"), elastic)
    }
  }

  test("where executors take what their host has, the cores of the ranks are asked for") {
    withContext("local-cluster[1,2,1024]", "spark.task.cpus" -> "2") { sc =>
      val error = intercept[IllegalStateException](ranks(sc, 5)).getMessage
      assert(error.endsWith("--conf spark.cores.max=10 (a rank needs 2 cores)"), error)
    }
  }

  test("a local master runs the stage, because Spark ignores the setting there") {
    withContext("local[2]")(sc => assert(ranks(sc, 2) == Arrays.asList[Integer](2, 2)))
  }

  test("an elastic stage begins with the executors that there are, and others join in") {
    withContext(
      "local-cluster[3,1,1024]",
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.jars" -> LocalCluster.jars.mkString(","),
      "spark.executor.extraJavaOptions" -> System.getProperty("collectives.jvm.options"),
      "spark.task.maxFailures" -> "1000",
      "spark.dynamicAllocation.initialExecutors" -> "1"
    ) { sc =>
      val folder = Files.createTempDirectory("elastic")
      val run = train(sc, folder)
      (0 until 3).foreach(awaitSteps(folder, _, attempt = 0))
      assertTrained(folder, finish(folder, run), 0, 0, 0)
    }
  }
}
