package org.sparkcollectives.spark

import com.holdenkarau.spark.testing.SparkContextProvider
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.{SparkConf, SparkContext, SparkEnv}
import org.apache.spark.scheduler.{SparkListener, SparkListenerExecutorRemoved}
import org.scalatest.{Assertions, BeforeAndAfterAll, Suite}
import org.sparkcollectives.spark.internal.driver.DriverStores

/** A Spark application on executors in JVMs of their own, one for all tests of a suite. */
trait LocalCluster
    extends BeforeAndAfterAll
    with SparkContextProvider
    with Patience
    with Assertions {
  self: Suite =>

  @transient private var context: SparkContext = _

  def executors: Int = 2
  def cores: Int = 2

  /** Returns settings besides those that every test needs. */
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
    context.addSparkListener(new SparkListener {
      override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit =
        LocalCluster.removed.add(event.executorId)
    })
    LocalCluster.removed.clear()
    // A barrier stage that is submitted before all executors are there waits for 15 seconds.
    try awaitExecutors()
    catch {
      case e: Throwable =>
        // ScalaTest does not call afterAll then, and no other suite could start a context.
        context.stop()
        throw e
    }
  }

  private def awaitExecutors(): Unit =
    eventually("all executors are there")(context.getExecutorMemoryStatus.size == executors + 1)

  /** Waits until another executor has replaced one that is gone. */
  def awaitReplaced(executor: String): Unit = {
    eventually(s"executor $executor is removed")(LocalCluster.removed.contains(executor))
    awaitExecutors()
  }

  /** Returns the processes of the executors. */
  def executorPids: Seq[String] =
    ProcessHandle
      .current()
      .children()
      .toArray
      .toSeq
      .collect { case child: ProcessHandle => child }
      .filter(_.info.commandLine.orElse("").contains("CoarseGrainedExecutorBackend"))
      .map(_.pid.toString)

  /** Asserts that all slots are free again, and that ranks in them work. */
  def assertTheNextJobRuns(): Unit = {
    val slots = executors * cores
    val sum = slots * (slots + 1) / 2
    assert(Jobs.ranks(sc, slots)(Jobs.sum) == Seq.fill(slots)(sum), "the next job has all slots")
  }

  /** Asserts that the driver's store is empty. */
  def assertNothingIsLeft(): Unit = {
    val env = SparkEnv.get
    def blocks = env.blockManager.getMatchingBlockIds(_.name.contains("_collectives"))
    eventually(s"no keys, but there are ${DriverStores.keys(env)}")(DriverStores.keys(env) == 0)
    eventually(s"no clients, but there are ${DriverStores.clientCount(env)}")(
      DriverStores.clientCount(env) == 0
    )
    eventually(s"no blocks, but there are $blocks")(blocks.isEmpty)
  }

  override def afterAll(): Unit =
    try context.stop()
    finally super.afterAll()
}

object LocalCluster {

  /** The executors that the running suite has lost. */
  private val removed = ConcurrentHashMap.newKeySet[String]()

  /** The jar that ships, and the tasks of this suite. */
  val jars: Seq[String] =
    Seq("collectives.plugin.jar", "collectives.suite.jar").map(System.getProperty(_))
}
