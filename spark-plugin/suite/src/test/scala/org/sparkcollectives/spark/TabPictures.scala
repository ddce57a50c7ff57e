package org.sparkcollectives.spark

import java.nio.file.{Files, Paths}
import java.util.concurrent.TimeUnit

import org.apache.spark.SparkConf
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{ProcessGroup, ReduceOp, Tensor}

/** Makes the picture of the tab that README and docs show, from a group that trains for a minute
  * and a half. No build runs it: CONTRIBUTING.md has the command.
  */
class TabPictures extends AnyFunSuite with LocalCluster {

  override def settings: Map[String, String] =
    Map(
      "spark.plugins" -> classOf[CollectivesPlugin].getName,
      "spark.ui.enabled" -> "true",
      "spark.ui.port" -> "0"
    )

  override def conf: SparkConf = super.conf.setAppName("training")

  test("a group of four ranks, one of which becomes slower than the others") {
    val browser = Browser.find()
    assert(browser.isDefined, "chromium is on the PATH")
    val steps = Jobs.ranks(sc, 4)(TrainingWithAStraggler.run)
    assert(steps.distinct.size == 1)
    val ui = sc.uiWebUrl.get.stripSuffix("/")
    def page = UiClient.get(s"$ui/collectives/group/?id=1")
    eventually("the group is closed, and rank 2 is marked")(
      page.contains("closed") && page.contains(">slow<")
    )
    val picture = Paths.get("../../docs/images/collectives-tab.png")
    Files.deleteIfExists(picture)
    val console =
      browser.get.load(s"$ui/collectives/group/?id=1", picture.toAbsolutePath.normalize, 1100, 1010)
    assert(console.isEmpty, "the console of the browser")
  }
}

/** Steps as those of a training, in which rank 2 needs twice the time after half a minute.
  *
  * The work of a step is a pause, so a machine with fewer processors than ranks gives the same
  * picture.
  */
object TrainingWithAStraggler {

  private val Slower = TimeUnit.SECONDS.toNanos(30)
  private val End = TimeUnit.SECONDS.toNanos(90)

  def run(world: ProcessGroup): Int = {
    val begin = System.nanoTime()
    val gradients = Tensor.of(new Array[Float](1 << 18): _*)
    val loss = Tensor.of(new Array[Float](64): _*)
    val phase = Array(0)
    var steps = 0
    while (phase(0) < 2) {
      work(if (world.rank == 2) 80 * (1 + phase(0)) else 80)
      world.progress(phase(0), 2, s"step $steps")
      (1 to 4).foreach(_ => world.allReduce(gradients, ReduceOp.AVG).await())
      world.allReduce(loss, ReduceOp.SUM).await()
      if (world.rank == 0) {
        val passed = System.nanoTime() - begin
        phase(0) = if (passed < Slower) 0 else if (passed < End) 1 else 2
      }
      world.broadcast(Tensor.of(phase: _*), 0).await()
      steps += 1
    }
    steps
  }

  private def work(milliseconds: Int): Unit = TimeUnit.MILLISECONDS.sleep(milliseconds)
}
