package org.sparkcollectives.spark

import com.codahale.metrics.{Gauge, MetricRegistry}
import org.apache.spark.{SparkConf, SparkContext, SparkEnv}
import org.apache.spark.metrics.source.Source
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.spark.internal.driver.DriverStores

/** Tests that what is wrong with the monitoring fails no job. */
class MonitoringFaultsSuite extends AnyFunSuite with Patience {

  private val name = s"plugin.${classOf[CollectivesPlugin].getName}"

  /** A source of the user's own, whose names are ours. */
  private class Theirs extends Source {
    override val sourceName: String = name
    override val metricRegistry: MetricRegistry = new MetricRegistry
    metricRegistry.register("operations", new Gauge[Int] { override def getValue: Int = 42 })
  }

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

  test("a source of the user's own may have our name, before and after ours is installed") {
    withContext() { sc =>
      SparkEnv.get.metricsSystem.registerSource(new Theirs)
      SparkCollectives.install(sc)
      SparkEnv.get.metricsSystem.registerSource(new Theirs)
      assertAJobRuns(sc)
      assert(SparkEnv.get.metricsSystem.getSourcesByName(name).nonEmpty)
      eventually("the driver knows that the group has ended")(
        DriverStores.statistics(SparkEnv.get).sums.figures.totals.operations == 2
      )
    }
  }

  test("with the interval 0 nothing is reported, and no stage has accumulators") {
    withContext(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.collectives.statistics.interval" -> "0"
    ) { sc =>
      assertAJobRuns(sc)
      assertAJobRuns(sc)
      val statistics = DriverStores.statistics(SparkEnv.get)
      assert(statistics.groups.isEmpty)
      assert(statistics.sums.figures.totals.operations == 0)
      val stages = sc.statusStore.stageList(null)
      assert(stages.size == 2 && stages.forall(_.accumulatorUpdates.isEmpty), stages)
    }
  }

  test("metrics without any sink cost nothing but memory") {
    withContext("spark.plugins" -> classOf[CollectivesPlugin].getName) { sc =>
      assertAJobRuns(sc)
      val sources = SparkEnv.get.metricsSystem.getSourcesByName(name)
      assert(sources.size == 1, "with a local master the driver has the only ones")
      eventually(s"two operations in ${sources.head.metricRegistry.getGauges}")(
        sources.head.metricRegistry.getGauges.get("operations").getValue == 2L
      )
    }
  }
}
