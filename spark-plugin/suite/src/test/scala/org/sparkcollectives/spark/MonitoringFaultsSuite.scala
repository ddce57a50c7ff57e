package org.sparkcollectives.spark

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import org.apache.spark.{SparkConf, SparkContext, SparkEnv}
import org.apache.spark.scheduler.{SparkListener, SparkListenerStageCompleted}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.spark.internal.driver.DriverStores

/** Tests that what is wrong with the monitoring fails no job. */
class MonitoringFaultsSuite extends AnyFunSuite with Patience {

  private val name = s"plugin.${classOf[CollectivesPlugin].getName}"

  private def withContext[T](settings: (String, String)*)(body: SparkContext => T): T = {
    val sc = new SparkContext(
      new SparkConf()
        .setMaster("local[2]")
        .setAppName("monitoring faults")
        .set("spark.ui.enabled", "false")
        .setAll(settings)
    )
    try body(sc)
    finally sc.stop()
  }

  private def assertAJobRuns(sc: SparkContext): Unit =
    assert(Jobs.ranks(sc, 2)(Jobs.sum) == Seq(3, 3))

  private def operations: Long =
    DriverStores.statistics(SparkEnv.get).sums.figures.totals.operations

  test("a source of the user's own may have our name, before and after ours is installed") {
    withContext() { sc =>
      NamedSource.register(SparkEnv.get, name)
      SparkCollectives.install(sc)
      NamedSource.register(SparkEnv.get, name)
      assertAJobRuns(sc)
      assert(NamedSource.gauge(SparkEnv.get, name, "operations") == 42)
      eventually(s"two operations are reported, but there are $operations")(operations == 2)
    }
  }

  test("with the interval 0 nothing is reported, and no stage has accumulators") {
    withContext(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.collectives.statistics.interval" -> "0"
    ) { sc =>
      val stages = new ConcurrentLinkedQueue[Seq[String]]
      sc.addSparkListener(new SparkListener {
        override def onStageCompleted(completed: SparkListenerStageCompleted): Unit =
          stages.add(completed.stageInfo.accumulables.values.flatMap(_.name).toList)
      })
      assertAJobRuns(sc)
      eventually("the stage has ended")(stages.size == 1)
      assert(stages.peek.exists(_.startsWith("internal.metrics")), stages)
      assert(!stages.peek.exists(_.startsWith("collectives")), stages)
      assert(DriverStores.statistics(SparkEnv.get).groups.asScala.isEmpty)
      assert(operations == 0)
    }
  }

  test("without any sink the metrics are there, with a local master the driver's alone") {
    withContext("spark.plugins" -> classOf[CollectivesPlugin].getName) { sc =>
      assertAJobRuns(sc)
      assert(NamedSource.count(SparkEnv.get, name) == 1)
      def shown = NamedSource.gauge(SparkEnv.get, name, "operations")
      eventually(s"two operations are shown, but there are $shown")(shown == 2L)
    }
  }
}
