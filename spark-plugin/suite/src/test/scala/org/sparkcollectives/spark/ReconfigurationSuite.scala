package org.sparkcollectives.spark

import java.time.Duration
import java.util.Collections

import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._

import org.apache.spark.SparkEnv
import org.scalatest.funsuite.AnyFunSuite
import org.sparkcollectives.{ProcessGroup, ReconfigurableGroup}
import org.sparkcollectives.spark.internal.driver.DriverStores

/** Tests reconfigurable groups over the driver's store, on two executors with two tasks each. */
class ReconfigurationSuite extends AnyFunSuite with LocalCluster {

  override def settings: Map[String, String] =
    Map("spark.plugins" -> classOf[CollectivesPlugin].getName)

  test("ranks of several executors leave one out, are alone, and are together again") {
    val sums = Jobs.ranks(sc, 4) { world =>
      val group = SparkCollectives.reconfigurable()
      val before = (group eq SparkCollectives.reconfigurable(), group.rank - world.rank, group.size)
      group.reconfigure(1, Reconfigurations.handles(group, world))
      val all = Jobs.sum(group)
      val handles = Reconfigurations.handles(group, world)
      // Rank 1 takes no part.
      val some =
        if (world.rank == 1) 0
        else {
          group.reconfigure(2, java.util.List.of(handles.get(3), handles.get(2), handles.get(0)))
          Jobs.sum(group) * 10 + group.rank
        }
      group.reconfigure(10 + world.rank, Collections.singletonList(group.handle))
      val alone = Jobs.sum(group)
      group.reconfigure(3, Reconfigurations.handles(group, world))
      (before, Seq(all, some, alone, Jobs.sum(group)))
    }
    assert(sums.map(_._1).distinct == Seq((true, 0, 4)))
    val expected = Seq(62, 0, 61, 60).map(some => Seq(10, some, 1, 10))
    assert(sums.map(_._2) == expected)
  }

  test("a rank that does not come is named, and the others go on without it") {
    val outcomes = Jobs.ranks(sc, 3) { world =>
      val group = SparkCollectives.reconfigurable()
      val handles = Reconfigurations.handles(group, world)
      val outcome =
        if (world.rank == 2) "absent"
        else {
          val named =
            try {
              group.reconfigure(1, handles, Duration.ofSeconds(3))
              "no error"
            } catch { case e: Exception => e.getMessage }
          group.reconfigure(2, handles.subList(0, 2))
          s"${Jobs.sum(group)} $named"
        }
      world.barrier().await()
      outcome
    }
    assert(outcomes(2) == "absent")
    outcomes.take(2).foreach { outcome =>
      assert(outcome.startsWith("3 "), outcome)
      assert(outcome.contains("ranks have not arrived: [") && outcome.contains("2]"), outcome)
    }
  }

  test("a task that is killed while it waits for members ends at once, and leaves nothing behind") {
    val job = Future {
      sc.setJobGroup("to-cancel", "waits for a rank that does not come", interruptOnCancel = false)
      Jobs.ranks(sc, 2) { world =>
        val group = SparkCollectives.reconfigurable()
        val handles = Reconfigurations.handles(group, world)
        if (world.rank == 0) group.reconfigure(1, handles, Duration.ofMinutes(4))
        else world.store.get("never set")
        ()
      }
    }
    eventually("each rank has its world and its group")(DriverStores.clientCount(SparkEnv.get) >= 4)
    sc.cancelJobGroup("to-cancel")
    intercept[Exception](Await.result(job, 2.minutes))
    eventually("nothing is left")(
      Jobs.threads(sc).values.flatten.forall(name => !name.contains("reconfigured-close"))
    )
    assert(Jobs.ranks(sc, 4)(Jobs.sum) == Seq(10, 10, 10, 10), "the next job runs")
  }
}

/** The code of the tasks, in an object of its own so that they do not carry the suite along. */
object Reconfigurations {

  /** Returns the handles of all ranks, by partition. */
  def handles(group: ReconfigurableGroup, world: ProcessGroup): java.util.List[String] =
    world.objects.allGather(group.handle)
}
