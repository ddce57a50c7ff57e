package org.sparkcollectives.spark

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.scalatest.funsuite.AnyFunSuite

/** Tests the tab "Collectives" of a running application, and of the same one in a history server.
  */
class UiSuite extends AnyFunSuite with LocalCluster {

  private val events = Files.createTempDirectory("event-log-")
  private val posted = "world <0>"
  private val postedGroup = "group/?id=1000000"

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.ui.enabled" -> "true",
      "spark.ui.port" -> "0",
      "spark.ui.contentSecurityPolicy.enabled" -> "true",
      "spark.collectives.rendezvous.secret" -> "nobody-sees-this",
      "spark.collectives.timeout" -> "7min",
      "spark.eventLog.enabled" -> "true",
      "spark.eventLog.dir" -> events.toUri.toString,
      "spark.eventLog.compress" -> "false"
    )

  private def live: String = sc.uiWebUrl.get.stripSuffix("/")

  /** Checks the pages of the group that was posted, live or in a history server. */
  private def assertThePagesAreThere(ui: String): Unit = {
    assert(UiClient.count(UiClient.get(s"$ui/jobs/"), "/collectives/\"") == 1, "one tab")
    val list = UiClient.answer(s"$ui/collectives/")
    assert(list.status == 200, list.body)
    assert(list.body.contains("world &lt;0&gt;"), list.body)
    assert(!list.body.contains("<0>"), list.body)
    assert(list.body.contains("spark.collectives.timeout"), list.body)
    assert(!list.body.contains("nobody-sees-this"))
    if (System.getProperty("collectives.spark.version") >= "4.2")
      assert(list.contentSecurityPolicy.exists(_.contains("script-src")), list)
    val group = UiClient.get(s"$ui/collectives/$postedGroup")
    for (
      part <- Seq(
        "Group world &lt;0&gt;",
        "rank 5",
        ">slow<",
        "host-b",
        "recursive-doubling",
        "lost its executor",
        "&lt;b&gt;while&lt;/b&gt;",
        "<svg",
        "loss"
      )
    ) assert(group.contains(part), s"$part in $group")
    val row = groups(ui).find(_.get("name").asText == posted).get
    assert(row.get("operations").asLong == 480000)
    assert(row.get("state").asText == "FAILED")
    val details = UiClient.json(s"$ui/collectives/group/json?id=1000000").get("details")
    assert(details.get("sums").get("byRank").size == 8)
    assert(UiClient.get(s"$ui/collectives/group/?id=99").contains("There is no such group"))
    assert(UiClient.answer(s"$ui/stages/stage/?id=0&attempt=0").status == 200, "the stage's page")
  }

  private def groups(ui: String): Seq[JsonNode] =
    UiClient.json(s"$ui/collectives/json").get("groups").asScala.toSeq

  private def details(ui: String, group: JsonNode): JsonNode =
    UiClient.json(s"$ui/collectives/group/json?id=${group.get("id").asLong}").get("details")

  /** Returns the groups of the application in a state; not the one that was posted. */
  private def made(ui: String, state: String): Seq[JsonNode] =
    groups(ui).filter(_.get("state").asText == state).filter(_.get("name").asText != posted)

  /** Checks what is shown of the groups that the tasks have made. */
  private def assertTheGroupsAreThere(ui: String): Unit = {
    val closed = made(ui, "CLOSED")
    assert(closed.size == 1, groups(ui))
    assert(closed.head.get("name").asText.endsWith("world"))
    assert(closed.head.get("stage").asInt == 0)
    assert(closed.head.get("size").asInt == 4)
    assert(closed.head.get("operations").asLong == 4, "one all-reduce on each rank")
    assert(closed.head.get("hosts").asInt == 1)
    val pairs = Seq("heap", "sharedMemory", "tcp").map(closed.head.get(_).asInt).sum
    assert(pairs == 6, "each rank reaches each")
    val sums = details(ui, closed.head).get("sums")
    assert(sums.get("byOperation").get(0).get("operation").asText == "ALL_REDUCE")
    assert(sums.get("byRank").size == 4)
    assert(sums.get("training").get("done").asInt == 1, sums)
    val closedPage = UiClient.get(s"$ui/collectives/group/?id=${closed.head.get("id").asLong}")
    assert(closedPage.contains("1 of 2, 50 %: half the &lt;way&gt;"), closedPage)
    val failed = made(ui, "FAILED")
    assert(failed.size == 1, groups(ui))
    val failure = details(ui, failed.head).get("failures").get(0)
    assert(failure.get("rank").asInt == 1, failure)
    assert(failure.get("kind").asText == "EXCEPTION", failure)
    assert(failure.get("text").asText.contains("no <more>"), failure)
    assert(failure.get("dump").asText.endsWith("failure"), failure)
    assert(failure.get("finding").asText.contains("rank 1"), failure)
    val page = UiClient.get(s"$ui/collectives/group/?id=${failed.head.get("id").asLong}")
    assert(page.contains("no &lt;more&gt;"), page)
  }

  /** Checks what Spark shows of the first stage, whose four ranks all-reduced 1,000 integers. */
  private def assertTheStageHasAccumulators(applications: String, id: String): Unit = {
    val stage = UiClient.json(s"$applications/$id/stages/0/0")
    val values = stage
      .get("accumulatorUpdates")
      .asScala
      .map(each => each.get("name").asText -> each.get("value").asText)
      .toMap
    assert(values.get("collectives: bytes").contains("16000"), stage)
    assert(values("collectives: seconds").toDouble > 0, stage)
    assert(values.size == 2, stage)
    val tasks = UiClient.json(s"$applications/$id/stages/0/0/taskList").asScala.toSeq
    assert(tasks.size == 4 && tasks.forall(_.get("accumulatorUpdates").size == 2), tasks)
  }

  test("the tab of a running application shows its groups") {
    val sums = Jobs.ranks(sc, 4) { world =>
      world.progress(1, 2, "half the <way>")
      Jobs.sum(world)
    }
    assert(sums == Seq(10, 10, 10, 10))
    assertTheStageHasAccumulators(s"$live/api/v1/applications", sc.applicationId)
    intercept[org.apache.spark.SparkException] {
      Jobs.ranks(sc, 4) { world =>
        if (world.rank == 1) throw new IllegalArgumentException("no <more>")
        Jobs.sum(world)
      }
    }
    PostedEvents.post(sc, posted)
    SparkCollectives.install(sc)
    eventually(s"both groups have ended, but there are ${groups(live)}")(
      made(live, "CLOSED").size + made(live, "FAILED").size == 2
    )
    assertTheGroupsAreThere(live)
    eventually("the group that was posted has ended")(
      UiClient.get(s"$live/collectives/$postedGroup").contains("lost its executor")
    )
    assertThePagesAreThere(live)
  }

  test("a browser shows the pages, and neither they nor it complain") {
    val found = Browser.find()
    assume(found.isDefined, "this machine has no chromium on its PATH")
    val folder = Paths.get(System.getProperty("collectives.plugin.jar"))
    for ((page, name) <- Seq("" -> "groups", postedGroup -> "group")) {
      val picture = folder.resolveSibling(s"collectives-$name.png")
      Files.deleteIfExists(picture)
      val console = found.get.load(s"$live/collectives/$page", picture, 1400, 1300)
      assert(console.isEmpty, s"the console of $live/collectives/$page")
      assert(Files.size(picture) > 10000, picture)
    }
  }

  test("a history server with the jar shows the same") {
    val id = sc.applicationId
    sc.stop()
    val server = new HistoryServerProcess(events, Seq(LocalCluster.jars.head))
    try {
      val ui = server.application(id)
      assertThePagesAreThere(ui)
      assertTheGroupsAreThere(ui)
      assertTheStageHasAccumulators(ui.replace(s"/history/$id", "/api/v1/applications"), id)
    } finally server.close()
  }

  test("a history server without the jar shows the application's other pages") {
    val id = sc.applicationId
    val server = new HistoryServerProcess(events, Seq())
    try {
      val ui = server.application(id)
      val jobs = UiClient.get(s"$ui/jobs/")
      assert(jobs.contains("Completed Jobs"), jobs)
      assert(!jobs.contains("/collectives/"), jobs)
      assert(!UiClient.answer(s"$ui/collectives/").body.contains("world"))
      eventually(s"the events are dropped: ${server.output}")(
        server.output.contains("Drop unrecognized event")
      )
    } finally server.close()
  }
}
