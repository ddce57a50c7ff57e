package org.sparkcollectives.spark

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.apache.spark.{BarrierTaskContext, SparkConf, SparkContext, SparkEnv}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.spark.internal.driver.DriverStores

/** Tests what Spark writes of an application for its history server, which others may read. */
class EventLogSuite extends AnyFunSuite with Patience {

  import EventLogSuite._

  test("the secret of Python workers is not in the event log of a local master") {
    val folder = Files.createTempDirectory("event-log-")
    val secrets = withContext(folder) { sc =>
      // The stage behind the shuffle is submitted with what the tasks before it were given.
      sc.parallelize(0 until 2, 2)
        .barrier()
        .mapPartitions(_ => Iterator(secret()))
        .repartition(2)
        .collect()
        .toSet
    }
    val events = Files.walk(folder).iterator.asScala.filter(Files.isRegularFile(_)).toList
    val log = events.map(Files.readString(_)).mkString
    assert(log.contains("SparkListenerStageSubmitted"))
    assert(secrets.forall(_.length == 64), "each task has a secret")
    assert(secrets.forall(!log.contains(_)), "and no event has one")
  }

  test("workers find their secret though old temporary files were removed") {
    val folder = Files.createTempDirectory("event-log-")
    withContext(folder) { sc =>
      def read() =
        sc.parallelize(0 until 2, 2)
          .barrier()
          .mapPartitions(_ => Iterator(secret()))
          .collect()
          .toSet
      val before = read()
      val file = sc
        .parallelize(0 until 2, 2)
        .barrier()
        .mapPartitions(_ => Iterator(secretFile().get))
        .collect()
        .head
      Files.delete(Path.of(file))
      assert(read() == before)
    }
  }

  test("an application without a UI writes the events of its groups") {
    val count = eventsOf()
    assert(count("LibraryStarted") == 1)
    assert(count("GroupMade") >= 1)
    assert(count("GroupEnded") == 1)
  }

  test("an application with the tab switched off writes none") {
    assert(eventsOf("spark.collectives.ui.enabled" -> "false").values.sum == 0)
  }

  /** Returns how many events of this library an application with one group writes, by name. */
  private def eventsOf(settings: (String, String)*): Map[String, Int] = {
    val folder = Files.createTempDirectory("event-log-")
    withContext(folder, settings: _*) { sc =>
      assert(Jobs.ranks(sc, 2)(Jobs.sum) == Seq(3, 3))
      def groups = DriverStores.statistics(SparkEnv.get).groups.asScala
      eventually(s"the driver knows that the group has ended: $groups")(groups.exists(_.ended))
    }
    val files = Files.walk(folder).iterator.asScala.filter(Files.isRegularFile(_)).toList
    val Event = """\{"Event":"org\.sparkcollectives\.spark\.event\.(\w+)".*""".r
    files
      .flatMap(Files.readAllLines(_).asScala)
      .collect { case Event(name) => name }
      .groupBy(identity)
      .map { case (name, all) => name -> all.size }
      .withDefaultValue(0)
  }

  private def withContext[T](eventLog: Path, settings: (String, String)*)(
      body: SparkContext => T
  ): T = {
    val sc = new SparkContext(
      new SparkConf()
        .setMaster("local[2]")
        .setAppName("event log")
        .set("spark.ui.enabled", "false")
        .set("spark.plugins", classOf[CollectivesPlugin].getName)
        .set("spark.eventLog.enabled", "true")
        .set("spark.eventLog.dir", eventLog.toUri.toString)
        .set("spark.eventLog.compress", "false")
        .setAll(settings)
    )
    try body(sc)
    finally sc.stop()
  }
}

object EventLogSuite {

  private def secretFile(): Option[String] =
    Option(BarrierTaskContext.get().getLocalProperty("spark.collectives.python.secretFile"))

  /** Returns what a Python worker of this task proves to know. */
  private def secret(): String =
    secretFile()
      .map(file => Files.readString(Path.of(file)))
      .getOrElse(BarrierTaskContext.get().getLocalProperty("spark.collectives.python.secret"))
}
