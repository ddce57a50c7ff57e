package org.sparkcollectives.spark

import java.nio.file.Files
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.spark.event.{QuorumFormed, RunEnded}

/** Tests replicas on executors whose end Spark announces. */
class DecommissionSuite extends AnyFunSuite with LocalCluster with ElasticRuns {

  override def executors: Int = 2
  override def cores: Int = 1
  override def settings: Map[String, String] = Map(
    "spark.plugins" -> classOf[CollectivesPlugin].getName,
    "spark.task.maxFailures" -> "1000",
    "spark.decommission.enabled" -> "true",
    "spark.collectives.heartbeat.timeout" -> "120s"
  )

  test("a replica leaves between two steps, no attempt is lost, and it returns elsewhere") {
    val events = new ConcurrentLinkedQueue[SparkListenerEvent]
    sc.addSparkListener(new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = events.add(event)
    })
    val folder = Files.createTempDirectory("elastic")
    val run = train(sc, folder, partitions = 2, _.withMinReplicas(2))
    val place = awaitSteps(folder, 1, attempt = 0)
    awaitSteps(folder, 0, attempt = 0)
    Decommission.of(sc, place.executor)
    val next = awaitSteps(folder, 1, attempt = 1)
    assert(next.executor != place.executor)
    awaitReplaced(place.executor)
    assertTrained(folder, finish(folder, run), 0, 1)
    eventually(s"the end of the run is posted: $events")(
      events.asScala.exists(_.isInstanceOf[RunEnded])
    )
    val quorums = events.asScala.toSeq.collect { case quorum: QuorumFormed => quorum }
    assert(quorums.forall(_.lost == 0), quorums)
    assert(quorums.last.healed >= 2, "at the start, and at the return")
    assert(
      quorums.last.replicas.asScala.map(_.executor).toSet ==
        Set(next.executor, executorOf(quorums.head, replica = 0))
    )
    assertNothingIsLeft()
  }

  private def executorOf(quorum: QuorumFormed, replica: Int): String =
    quorum.replicas.asScala.find(_.replica == replica).get.executor
}
