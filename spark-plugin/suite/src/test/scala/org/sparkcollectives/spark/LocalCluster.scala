package org.sparkcollectives.spark

import com.holdenkarau.spark.testing.SparkContextProvider
import org.apache.spark.{SparkConf, SparkContext}
import org.scalatest.{BeforeAndAfterAll, Suite}

/** A Spark application on executors in JVMs of their own, one for all tests of a suite. */
trait LocalCluster extends BeforeAndAfterAll with SparkContextProvider with Patience {
  self: Suite =>

  @transient private var context: SparkContext = _

  def executors: Int = 2
  def cores: Int = 2

  /** Settings besides those that every test needs. */
  def settings: Map[String, String] = Map.empty

  override def sc: SparkContext = context
  override def appID: String = getClass.getName
  override def conf: SparkConf =
    new SparkConf()
      .setMaster(s"local-cluster[$executors,$cores,1024]")
      .setAppName(getClass.getSimpleName)
      .set("spark.ui.enabled", "false")
      .set("spark.executor.extraJavaOptions", System.getProperty("collectives.jvm.options"))
      .set("spark.jars", LocalCluster.jars.mkString(","))
      .setAll(settings)

  override def beforeAll(): Unit = {
    super.beforeAll()
    context = new SparkContext(conf)
    // A barrier stage that is submitted before all executors are there waits for 15 seconds.
    eventually("all executors are there")(context.getExecutorMemoryStatus.size == executors + 1)
  }

  override def afterAll(): Unit =
    try context.stop()
    finally super.afterAll()
}

object LocalCluster {

  /** The jar that ships, and the tasks of this suite. */
  val jars: Seq[String] =
    Seq("collectives.plugin.jar", "collectives.suite.jar").map(System.getProperty(_))
}
