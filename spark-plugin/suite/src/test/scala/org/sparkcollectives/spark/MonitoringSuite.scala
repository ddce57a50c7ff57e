package org.sparkcollectives.spark

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.file.{Files, Path}
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.locks.LockSupport

import org.apache.spark.SparkEnv
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{ProcessGroup, ReduceOp, Tensor}
import org.sparkcollectives.spark.internal.driver.{
  DriverStores,
  GroupFailure,
  GroupSnapshot,
  StatisticsListener
}

/** Tests what an operator sees of the ranks: the driver's metrics over HTTP, the executors' metrics
  * in files, the queries of the dashboard and the alerts, and the ranks that are slower than the
  * others.
  */
class MonitoringSuite extends AnyFunSuite with LocalCluster {

  private val csv = Files.createTempDirectory("metrics")

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.ui.enabled" -> "true",
      "spark.ui.port" -> "0",
      "spark.metrics.conf.driver.sink.prometheusServlet.class" ->
        "org.apache.spark.metrics.sink.PrometheusServlet",
      "spark.metrics.conf.driver.sink.prometheusServlet.path" -> "/metrics/prometheus",
      "spark.metrics.conf.executor.sink.csv.class" -> "org.apache.spark.metrics.sink.CsvSink",
      "spark.metrics.conf.executor.sink.csv.directory" -> csv.toString,
      "spark.metrics.conf.executor.sink.csv.period" -> "1",
      "spark.metrics.conf.executor.sink.csv.unit" -> "seconds"
    )

  private val prefix = "driver_plugin_org_sparkcollectives_spark_CollectivesPlugin_"

  /** Returns the driver's metrics of ours, by the end of the name. */
  private def scraped(): Map[String, Double] = {
    val request = HttpRequest.newBuilder(URI.create(sc.uiWebUrl.get + "/metrics/prometheus/"))
    val response =
      HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString())
    assert(response.statusCode == 200)
    response.body.linesIterator.collect {
      case line if line.contains(prefix) =>
        val value = line.substring(line.lastIndexOf(' ') + 1).toDouble
        line.takeWhile(_ != '{').split(prefix).last -> value
    }.toMap
  }

  /** Returns the newest value in an executor's file. */
  private def written(executor: Int, metric: String): Double = {
    val file = csv.resolve(
      s"${sc.applicationId}.$executor.plugin.${classOf[CollectivesPlugin].getName}.$metric.csv"
    )
    if (!Files.exists(file)) -1
    else {
      val lines = Files.readAllLines(file)
      if (lines.size < 2) -1 else lines.get(lines.size - 1).split(",")(1).toDouble
    }
  }

  private class Heard extends StatisticsListener {
    val made = new CopyOnWriteArrayList[GroupSnapshot]
    val sums = new CopyOnWriteArrayList[GroupSnapshot]
    val ended = new CopyOnWriteArrayList[GroupSnapshot]
    val failures = new CopyOnWriteArrayList[GroupFailure]
    override def onGroupMade(group: GroupSnapshot): Unit = made.add(group)
    override def onStatistics(group: GroupSnapshot): Unit = sums.add(group)
    override def onGroupEnded(group: GroupSnapshot): Unit = ended.add(group)
    override def onFailure(failure: GroupFailure): Unit = failures.add(failure)
  }

  private def listening[T](body: Heard => T): T = {
    val heard = new Heard
    val statistics = DriverStores.statistics(SparkEnv.get)
    statistics.addListener(heard)
    try body(heard)
    finally statistics.removeListener(heard)
  }

  test("the driver's metrics have the sums of all executors, the executors' files their own") {
    assert(scraped()("operations_Value") == 0, "there are metrics before there is a group")
    listening { heard =>
      assert(Jobs.ranks(sc, 4)(MonitoredRanks.reduce(_, 50)) == Seq.fill(4)(50))
      eventually(s"4 x 50 operations, but there is ${scraped()}")(
        scraped().get("operations_Value").contains(200.0)
      )
      assert(scraped()("bytes_Value") == 4 * 50 * 4000)
      assert(scraped()("failures_Value") == 0)
      assert(scraped()("progress_Value") == 0.5)
      assert(scraped()("wait_time_Value") > 0)
      assert(scraped()("store_calls_Count") > 0)
      eventually(s"no group is active, but there is ${scraped()}")(
        scraped()("groups_active_Value") == 0
      )
      eventually("executors have written theirs")(
        (0 to 1).map(written(_, "operations")).sum == 200
      )
      assert((0 to 1).forall(written(_, "bytes") == 2 * 50 * 4000))
      eventually("the end of the group is told")(heard.ended.size == 1)
      val ended = heard.ended.get(0)
      assert(heard.made.size == 1)
      assert(ended.size == 4 && ended.ranks.size == 4)
      assert(ended.ranks.stream.allMatch(_.ended))
      assert(ended.sums.operations == 200)
      assert(ended.byOperation.get(0).sums.count == 200)
      assert(heard.failures.isEmpty)
    }
  }

  test("each metric that the dashboard and the alerts ask for is there") {
    val there = scraped().keySet
    for ((file, fewest) <- Seq("spark-collectives.json" -> 11, "alerts.yaml" -> 3)) {
      val queries = Files.readString(Path.of("../../docs/grafana", file))
      val asked = s"$prefix([\\w.*]+)".r.findAllMatchIn(queries).map(_.group(1)).toSet
      assert(asked.size >= fewest, file)
      val missing = asked.filterNot(name => there.exists(_.matches(name)))
      assert(missing.isEmpty, s"of $file, not among $there")
    }
  }

  test("a rank that is slower in its own code is named") {
    listening { heard =>
      val seconds = Jobs.ranks(sc, 4)(MonitoredRanks.work(_, 2))
      def slow = heard.sums.stream.filter(_.ranks.stream.anyMatch(_.straggler)).findFirst
      assert(slow.isPresent, s"in ${seconds.max} s, ${heard.sums}")
      val ranks = slow.get.ranks
      assert(ranks.stream.filter(_.straggler).count == 1)
      assert(ranks.get(2).straggler)
      assert(ranks.get(2).slowness > 0.1)
      assert(ranks.get(2).waitedSeconds > 0)
      val barrier = slow.get.byOperation.get(0)
      assert(barrier.compared > 8)
      assert(barrier.waitedSeconds > 0.001, "three of four ranks wait for 10 ms")
      val last = slow.get.newest.stream.filter(_.last == 2).count
      assert(last > slow.get.newest.size / 2, slow.get.newest)
      val after = slow.get.updateMillis - slow.get.startMillis
      info(s"found $after ms after the first report, slower by ${ranks.get(2).slowness}")
    }
  }

  test("the first cause of a failure is told with its rank") {
    listening { heard =>
      intercept[org.apache.spark.SparkException] {
        Jobs.ranks(sc, 4)(MonitoredRanks.fail(_, 1))
      }
      eventually("the failure is told")(!heard.failures.isEmpty)
      val failure = heard.failures.get(0)
      assert(failure.rank == 1)
      assert(failure.kind == "EXCEPTION")
      assert(failure.text.contains("the data of rank 1 is wrong"))
    }
  }
}

/** Apart from the suite, so that no task carries it along. */
object MonitoredRanks {

  /** All-reduces 1,000 numbers so many times. */
  def reduce(world: ProcessGroup, times: Int): Int = {
    val tensor = Tensor.of(new Array[Float](1000): _*)
    world.progress(times, 2L * times, "")
    for (_ <- 1 to times) world.allReduce(tensor, ReduceOp.SUM).await()
    world.statistics.operations.toInt
  }

  /** Computes for 20 ms before each of 300 barriers, on one rank for 30 ms. */
  def work(world: ProcessGroup, slow: Int): Double = {
    val begin = System.nanoTime()
    for (_ <- 1 to 300) {
      val end = System.nanoTime() + (if (world.rank == slow) 30000000L else 20000000L)
      while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime())
      world.barrier().await()
    }
    (System.nanoTime() - begin) / 1e9
  }

  /** Throws on one rank while the others wait. */
  def fail(world: ProcessGroup, rank: Int): Int = {
    world.barrier().await()
    if (world.rank == rank) throw new IllegalStateException(s"the data of rank $rank is wrong")
    world.barrier().await()
    0
  }
}
