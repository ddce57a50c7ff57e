package org.sparkcollectives.spark

import java.nio.file.{Files, Paths}
import java.time.Duration

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._

import org.apache.spark.SparkEnv
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.spark.internal.driver.DriverStores
import org.sparkcollectives.spi.RankAnswer

/** Tests the driver's requests to running ranks, also to those that hang in their own code. */
class ControlSuite extends AnyFunSuite with LocalCluster {

  override def settings: Map[String, String] =
    Map("spark.plugins" -> classOf[CollectivesPlugin].getName)

  private val patience = Duration.ofSeconds(60)

  private def answers(found: java.util.List[RankAnswer]): Seq[RankAnswer] =
    found.toArray.toSeq.map(_.asInstanceOf[RankAnswer])

  test("ranks that are stuck say that they live, what they are in, and where they are") {
    val path = Files.createTempDirectory("asked").toString
    val job = Future(Jobs.ranks(sc, 3) { world =>
      world.barrier().await()
      Stuck.awaitGo(path, world.rank)
      Jobs.sum(world)
    })
    for (rank <- 0 to 2) eventually("all run")(Files.exists(Paths.get(path, s"ready-$rank")))

    val pings = answers(SparkCollectives.ping(sc, patience))
    assert(pings.map(_.rank) == Seq(0, 1, 2))
    assert(pings.map(_.executorId).distinct.size == 2)
    assert(pings.forall(_.text.matches("process \\d+, up \\d+ s, heap .*")), pings)

    val groups = answers(SparkCollectives.groups(sc, patience))
    assert(groups.map(_.rank) == Seq(0, 1, 2))
    assert(
      groups.forall(
        _.text.endsWith("of ranks [0, 1, 2]: last collective called #0, begun #0, done #0")
      ),
      groups
    )

    val stacks = answers(SparkCollectives.stacks(sc, patience))
    assert(stacks.map(_.rank) == Seq(0, 1, 2))
    assert(stacks.forall(_.text.contains("awaitGo")), stacks)

    Files.writeString(Paths.get(path, "go"), "")
    assert(Await.result(job, 60.seconds) == Seq(6, 6, 6))
    eventually("nothing is left")(DriverStores.keys(SparkEnv.get) == 0)
    assert(SparkCollectives.ping(sc, Duration.ofSeconds(1)).isEmpty)
  }
}
